// SPDX-License-Identifier: Apache-2.0
// Declarations of all type specs, for the table. Each type spec has its own file, except that those
// of Nagios share one.
#pragma once

#include "resources/restype/spec.h"

namespace bunraku::restype {

extern const TypeSpec kAlternatives;
extern const TypeSpec kAnchor;
extern const TypeSpec kArchive;
extern const TypeSpec kAugeas;
extern const TypeSpec kComponent;
extern const TypeSpec kComputer;
extern const TypeSpec kConcatFile;
extern const TypeSpec kConcatFragment;
extern const TypeSpec kCron;
extern const TypeSpec kExec;
extern const TypeSpec kFile;
extern const TypeSpec kFileLine;
extern const TypeSpec kFilebucket;
extern const TypeSpec kGroup;
extern const TypeSpec kHost;
extern const TypeSpec kIniSetting;
extern const TypeSpec kIniSubsetting;
extern const TypeSpec kInterface;
extern const TypeSpec kK5login;
extern const TypeSpec kMacauthorization;
extern const TypeSpec kMailalias;
extern const TypeSpec kMaillist;
extern const TypeSpec kMcx;
extern const TypeSpec kMount;
extern const TypeSpec kNagiosCommand;
extern const TypeSpec kNagiosContact;
extern const TypeSpec kNagiosContactgroup;
extern const TypeSpec kNagiosHost;
extern const TypeSpec kNagiosHostdependency;
extern const TypeSpec kNagiosHostescalation;
extern const TypeSpec kNagiosHostextinfo;
extern const TypeSpec kNagiosHostgroup;
extern const TypeSpec kNagiosService;
extern const TypeSpec kNagiosServicedependency;
extern const TypeSpec kNagiosServiceescalation;
extern const TypeSpec kNagiosServiceextinfo;
extern const TypeSpec kNagiosServicegroup;
extern const TypeSpec kNagiosTimeperiod;
extern const TypeSpec kNotify;
extern const TypeSpec kPackage;
extern const TypeSpec kResources;
extern const TypeSpec kRouter;
extern const TypeSpec kSchedule;
extern const TypeSpec kScheduledTask;
extern const TypeSpec kSelboolean;
extern const TypeSpec kSelmodule;
extern const TypeSpec kService;
extern const TypeSpec kSshAuthorizedKey;
extern const TypeSpec kSshkey;
extern const TypeSpec kStage;
extern const TypeSpec kTidy;
extern const TypeSpec kUser;
extern const TypeSpec kVcsrepo;
extern const TypeSpec kVlan;
extern const TypeSpec kWhit;
extern const TypeSpec kYumrepo;
extern const TypeSpec kZfs;
extern const TypeSpec kZone;
extern const TypeSpec kZpool;

}  // namespace bunraku::restype
