PRAGMA application_id = 1112886866;
PRAGMA user_version = 5;
BEGIN TRANSACTION;
CREATE TABLE catalog_agent_data (
    certname_id INTEGER PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    version_is_number INTEGER NOT NULL,
    catalog_format INTEGER NOT NULL,
    classes TEXT NOT NULL,
    tags TEXT NOT NULL,
    resource_order BLOB NOT NULL,
    containment BLOB NOT NULL
);
CREATE TABLE catalog_input_contents (
    certname_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (certname_id, type, name)
) WITHOUT ROWID;
CREATE TABLE catalog_inputs (
    certname_id INTEGER PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    catalog_uuid TEXT,
    producer_timestamp INTEGER NOT NULL,
    hash BLOB NOT NULL
);
CREATE TABLE catalog_resources (
    certname_id INTEGER NOT NULL,
    resource_id INTEGER NOT NULL,
    PRIMARY KEY (certname_id, resource_id)
) WITHOUT ROWID;
INSERT INTO "catalog_resources" VALUES(1,1);
INSERT INTO "catalog_resources" VALUES(2,1);
INSERT INTO "catalog_resources" VALUES(3,1);
INSERT INTO "catalog_resources" VALUES(1,2);
INSERT INTO "catalog_resources" VALUES(1,3);
INSERT INTO "catalog_resources" VALUES(2,3);
INSERT INTO "catalog_resources" VALUES(3,3);
INSERT INTO "catalog_resources" VALUES(1,4);
INSERT INTO "catalog_resources" VALUES(2,4);
INSERT INTO "catalog_resources" VALUES(3,4);
INSERT INTO "catalog_resources" VALUES(2,5);
INSERT INTO "catalog_resources" VALUES(2,6);
INSERT INTO "catalog_resources" VALUES(3,7);
INSERT INTO "catalog_resources" VALUES(3,8);
CREATE TABLE catalog_types (
    certname_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    exported INTEGER NOT NULL,
    resources INTEGER NOT NULL,
    PRIMARY KEY (certname_id, type, exported)
) WITHOUT ROWID;
INSERT INTO "catalog_types" VALUES(1,'Class',0,1);
INSERT INTO "catalog_types" VALUES(2,'Class',0,1);
INSERT INTO "catalog_types" VALUES(3,'Class',0,1);
INSERT INTO "catalog_types" VALUES(1,'File',0,1);
INSERT INTO "catalog_types" VALUES(2,'File',0,1);
INSERT INTO "catalog_types" VALUES(3,'File',0,1);
INSERT INTO "catalog_types" VALUES(2,'Host',1,1);
INSERT INTO "catalog_types" VALUES(3,'Host',1,1);
INSERT INTO "catalog_types" VALUES(1,'Notify',0,1);
INSERT INTO "catalog_types" VALUES(2,'Notify',0,1);
INSERT INTO "catalog_types" VALUES(3,'Notify',0,1);
INSERT INTO "catalog_types" VALUES(1,'Stage',0,1);
INSERT INTO "catalog_types" VALUES(2,'Stage',0,1);
INSERT INTO "catalog_types" VALUES(3,'Stage',0,1);
CREATE TABLE catalogs (
    certname_id INTEGER PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    wire_digest BLOB,
    version TEXT NOT NULL,
    api_version INTEGER NOT NULL,
    environment_id INTEGER,
    transaction_uuid TEXT,
    catalog_uuid TEXT,
    code_id TEXT,
    job_id TEXT,
    producer_id INTEGER,
    producer_timestamp INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
 edges BLOB NOT NULL
);
INSERT INTO "catalogs" VALUES(1,X'9BD24499124FC3DD396D0E6AFE2CB5A842DE87FC',X'1A0E5E9407998327B4CDFD954D803ADD6D1ABA2C','1770091506',9,1,'68b08e2a-eeb1-4322-b241-bfdf151d294b','68b08e2a-eeb1-4322-b241-bfdf151d294b',NULL,NULL,1,1770091506000,1795921228504,X'024002090408');
INSERT INTO "catalogs" VALUES(2,X'CFC5C6A68D6394CFA5510DAFBB0CF8C01DAB65D7',X'CCBBF8F81EE5FF92378401ED2F164327DBED9B3D','1770091506',9,1,'68b08e2a-eeb1-4322-b241-bfdf151d294b','68b08e2a-eeb1-4322-b241-bfdf151d294b',NULL,NULL,1,1770091506000,1795921228748,X'024006200429');
INSERT INTO "catalogs" VALUES(3,X'D564055E456AF871B07D78982554954BD8345C24',X'394D25562B2DD79BD63666C11808BB6C70A6B57B','1770091506',9,1,'68b08e2a-eeb1-4322-b241-bfdf151d294b','68b08e2a-eeb1-4322-b241-bfdf151d294b',NULL,NULL,1,1770091506000,1795921228985,X'024006400849');
CREATE TABLE certname_packages (
    certname_id INTEGER NOT NULL,
    package_id INTEGER NOT NULL,
    PRIMARY KEY (certname_id, package_id)
) WITHOUT ROWID;
INSERT INTO "certname_packages" VALUES(1,1);
INSERT INTO "certname_packages" VALUES(2,1);
INSERT INTO "certname_packages" VALUES(3,1);
INSERT INTO "certname_packages" VALUES(2,2);
INSERT INTO "certname_packages" VALUES(3,3);
CREATE TABLE certnames (
    id INTEGER PRIMARY KEY,
    certname TEXT NOT NULL UNIQUE,
    deactivated INTEGER,
    expired INTEGER,
    facts_expire INTEGER,
    facts_expire_updated INTEGER,
    latest_report_id INTEGER,
    latest_report_timestamp INTEGER
);
INSERT INTO "certnames" VALUES(1,'db1.example.org',NULL,NULL,NULL,NULL,2,1770095106000);
INSERT INTO "certnames" VALUES(2,'web1.example.org',NULL,NULL,NULL,NULL,4,1770095106000);
INSERT INTO "certnames" VALUES(3,'web2.example.org',1770098706000,NULL,NULL,NULL,6,1770095106000);
CREATE TABLE environments (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO "environments" VALUES(1,'production');
CREATE TABLE exported_params (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    member INTEGER NOT NULL,
    resource_id INTEGER NOT NULL,
    PRIMARY KEY (name, value, member, resource_id)
) WITHOUT ROWID;
INSERT INTO "exported_params" VALUES('host_aliases','"web"',1,5);
INSERT INTO "exported_params" VALUES('host_aliases','"www"',1,5);
INSERT INTO "exported_params" VALUES('host_aliases','["www","web"]',0,5);
INSERT INTO "exported_params" VALUES('ip','"192.0.2.1"',0,5);
INSERT INTO "exported_params" VALUES('host_aliases','"web"',1,7);
INSERT INTO "exported_params" VALUES('host_aliases','"www"',1,7);
INSERT INTO "exported_params" VALUES('host_aliases','["www","web"]',0,7);
INSERT INTO "exported_params" VALUES('ip','"192.0.2.1"',0,7);
CREATE TABLE exported_tags (
    tag TEXT NOT NULL,
    resource_id INTEGER NOT NULL,
    PRIMARY KEY (tag, resource_id)
) WITHOUT ROWID;
INSERT INTO "exported_tags" VALUES('host',5);
INSERT INTO "exported_tags" VALUES('monitoring',5);
INSERT INTO "exported_tags" VALUES('host',7);
INSERT INTO "exported_tags" VALUES('monitoring',7);
CREATE TABLE fact_leaves (
    fact_id INTEGER NOT NULL,
    path_id INTEGER NOT NULL,
    match TEXT NOT NULL,
    value TEXT NOT NULL,
    number REAL,
    PRIMARY KEY (fact_id, path_id)
) WITHOUT ROWID;
INSERT INTO "fact_leaves" VALUES(1,1,'1','1',1.0);
INSERT INTO "fact_leaves" VALUES(1,2,'"two"','"two"',NULL);
INSERT INTO "fact_leaves" VALUES(1,3,'null','null',NULL);
INSERT INTO "fact_leaves" VALUES(1,4,'1073741824','1073741824',1073741824.0);
INSERT INTO "fact_leaves" VALUES(1,5,'"1 GiB"','"1 GiB"',NULL);
INSERT INTO "fact_leaves" VALUES(2,6,'2','2',2.0);
INSERT INTO "fact_leaves" VALUES(3,7,'0.5','0.5',0.5);
INSERT INTO "fact_leaves" VALUES(4,8,'"db"','"db"',NULL);
INSERT INTO "fact_leaves" VALUES(5,9,'true','true',NULL);
INSERT INTO "fact_leaves" VALUES(6,10,'"Grüße"','"Grüße"',NULL);
INSERT INTO "fact_leaves" VALUES(7,8,'"web"','"web"',NULL);
INSERT INTO "fact_leaves" VALUES(8,6,'4','4',4.0);
CREATE TABLE fact_name_set_members (
    name_set_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (name_set_id, name)
) WITHOUT ROWID;
INSERT INTO "fact_name_set_members" VALUES(1,'disks');
INSERT INTO "fact_name_set_members" VALUES(1,'processors');
INSERT INTO "fact_name_set_members" VALUES(1,'ratio');
INSERT INTO "fact_name_set_members" VALUES(1,'role');
INSERT INTO "fact_name_set_members" VALUES(1,'virtual');
INSERT INTO "fact_name_set_members" VALUES(1,'ümlaut');
CREATE TABLE fact_name_sets (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE
);
INSERT INTO "fact_name_sets" VALUES(1,X'06436DB64D6D437F93C2DA5F5668DE8A5C527CCF');
CREATE TABLE fact_paths (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    path_array TEXT NOT NULL,
    name TEXT NOT NULL,
    depth INTEGER NOT NULL,
    type TEXT NOT NULL,
    UNIQUE (path, type)
);
INSERT INTO "fact_paths" VALUES(1,'disks#~list#~0','["disks","list",0]','disks',2,'integer');
INSERT INTO "fact_paths" VALUES(2,'disks#~list#~1','["disks","list",1]','disks',2,'string');
INSERT INTO "fact_paths" VALUES(3,'disks#~list#~2','["disks","list",2]','disks',2,'null');
INSERT INTO "fact_paths" VALUES(4,'disks#~sda#~bytes','["disks","sda","bytes"]','disks',2,'integer');
INSERT INTO "fact_paths" VALUES(5,'disks#~sda#~size','["disks","sda","size"]','disks',2,'string');
INSERT INTO "fact_paths" VALUES(6,'processors','["processors"]','processors',0,'integer');
INSERT INTO "fact_paths" VALUES(7,'ratio','["ratio"]','ratio',0,'float');
INSERT INTO "fact_paths" VALUES(8,'role','["role"]','role',0,'string');
INSERT INTO "fact_paths" VALUES(9,'virtual','["virtual"]','virtual',0,'boolean');
INSERT INTO "fact_paths" VALUES(10,'ümlaut','["ümlaut"]','ümlaut',0,'string');
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    match TEXT NOT NULL,
    value TEXT NOT NULL,
    number REAL,
    UNIQUE (name, match)
);
INSERT INTO "facts" VALUES(1,'disks','{"list":[1,"two",null],"sda":{"bytes":1073741824,"size":"1 GiB"}}','{"list":[1,"two",null],"sda":{"bytes":1073741824,"size":"1 GiB"}}',NULL);
INSERT INTO "facts" VALUES(2,'processors','2','2',2.0);
INSERT INTO "facts" VALUES(3,'ratio','0.5','0.5',0.5);
INSERT INTO "facts" VALUES(4,'role','"db"','"db"',NULL);
INSERT INTO "facts" VALUES(5,'virtual','true','true',NULL);
INSERT INTO "facts" VALUES(6,'ümlaut','"Grüße"','"Grüße"',NULL);
INSERT INTO "facts" VALUES(7,'role','"web"','"web"',NULL);
INSERT INTO "facts" VALUES(8,'processors','4','4',4.0);
CREATE TABLE factset_facts (
    certname_id INTEGER NOT NULL,
    fact_id INTEGER NOT NULL,
    PRIMARY KEY (certname_id, fact_id)
) WITHOUT ROWID;
INSERT INTO "factset_facts" VALUES(1,1);
INSERT INTO "factset_facts" VALUES(2,1);
INSERT INTO "factset_facts" VALUES(3,1);
INSERT INTO "factset_facts" VALUES(1,2);
INSERT INTO "factset_facts" VALUES(2,2);
INSERT INTO "factset_facts" VALUES(1,3);
INSERT INTO "factset_facts" VALUES(2,3);
INSERT INTO "factset_facts" VALUES(3,3);
INSERT INTO "factset_facts" VALUES(1,4);
INSERT INTO "factset_facts" VALUES(1,5);
INSERT INTO "factset_facts" VALUES(2,5);
INSERT INTO "factset_facts" VALUES(3,5);
INSERT INTO "factset_facts" VALUES(1,6);
INSERT INTO "factset_facts" VALUES(2,6);
INSERT INTO "factset_facts" VALUES(3,6);
INSERT INTO "factset_facts" VALUES(2,7);
INSERT INTO "factset_facts" VALUES(3,7);
INSERT INTO "factset_facts" VALUES(3,8);
CREATE TABLE factsets (
    certname_id INTEGER PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    wire_digest BLOB,
    package_digest BLOB,
    environment_id INTEGER,
    producer_id INTEGER,
    producer_timestamp INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    name_set_id INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "factsets" VALUES(1,X'1167877971ADC8BF54905B08774B3EC39DB24EE7',NULL,X'60045FE5F1B2452B4356AAC3CB167C56D2E3943E',1,1,1770091506000,1795921228360,1);
INSERT INTO "factsets" VALUES(2,X'35AD42E90F9E90AC38D6CBA47CBAC15E43977471',NULL,X'BF76E136D42593B36ED1C53F6C642506E1F2E9C7',1,1,1770091506000,1795921228709,1);
INSERT INTO "factsets" VALUES(3,X'E00018329A993F2D91FF399717D49CA678BCEE68',NULL,X'E468446FFFA11629A4C539A1B80FCFF3CAC674B0',1,1,1770091506000,1795921228924,1);
CREATE TABLE gc_candidates (
    kind INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE TABLE packages (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    provider TEXT NOT NULL,
    UNIQUE (name, version, provider)
);
INSERT INTO "packages" VALUES(1,'bash','5.2','apt');
INSERT INTO "packages" VALUES(2,'nginx','1.1','apt');
INSERT INTO "packages" VALUES(3,'nginx','1.2','apt');
CREATE TABLE parameter_values (
    value_hash INTEGER NOT NULL,
    type_hash INTEGER NOT NULL,
    parameters_id INTEGER NOT NULL,
    PRIMARY KEY (value_hash, type_hash, parameters_id)
) WITHOUT ROWID;
INSERT INTO "parameter_values" VALUES(-7794903440426913800,1530871326,1);
INSERT INTO "parameter_values" VALUES(-792033325965857012,1530871326,1);
INSERT INTO "parameter_values" VALUES(216529056492197858,1530871326,1);
INSERT INTO "parameter_values" VALUES(7177990982418565056,1530871326,1);
INSERT INTO "parameter_values" VALUES(4938998713696200858,758796796,2);
INSERT INTO "parameter_values" VALUES(1212962424534291527,637230685,5);
INSERT INTO "parameter_values" VALUES(-3652828057663606334,1530871326,6);
INSERT INTO "parameter_values" VALUES(-792033325965857012,1530871326,6);
INSERT INTO "parameter_values" VALUES(216529056492197858,1530871326,6);
INSERT INTO "parameter_values" VALUES(7177990982418565056,1530871326,6);
INSERT INTO "parameter_values" VALUES(1212962424534291527,637230685,7);
INSERT INTO "parameter_values" VALUES(-1943119287207040232,1530871326,8);
INSERT INTO "parameter_values" VALUES(-792033325965857012,1530871326,8);
INSERT INTO "parameter_values" VALUES(216529056492197858,1530871326,8);
INSERT INTO "parameter_values" VALUES(7177990982418565056,1530871326,8);
CREATE TABLE parameters (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    parameters TEXT NOT NULL,
    exact TEXT
);
INSERT INTO "parameters" VALUES(1,X'33DB73646C9297BAD192B2079A385489EC348C36','{"content":"Welcome to db1.example.org\n","count":3,"ensure":"file","mode":"0644","nested":{"a":[1,2.5,null]}}',NULL);
INSERT INTO "parameters" VALUES(2,X'92CE7DE0D8934D16EB4D7F5D72DB3C110CECAAC1','{"message":"ok"}',NULL);
INSERT INTO "parameters" VALUES(3,X'A9EB8C2C14AFDE5566AB4652A8D7EB191FDCE698','{}',NULL);
INSERT INTO "parameters" VALUES(4,X'DB71F0D63D0D14EA099A439279BC6B41397F8121','{}',NULL);
INSERT INTO "parameters" VALUES(5,X'42A0057C86707344F7A1F1DFF3B4155B1763FF20','{"host_aliases":["www","web"],"ip":"192.0.2.1"}',NULL);
INSERT INTO "parameters" VALUES(6,X'9C9FE09749FAD323124E1BA10418ADAB7685FE88','{"content":"Welcome to web1.example.org\n","count":3,"ensure":"file","mode":"0644","nested":{"a":[1,2.5,null]}}',NULL);
INSERT INTO "parameters" VALUES(7,X'86F1A5F91A4B35E2C6DB469E8B847FA8A6AC343C','{"host_aliases":["www","web"],"ip":"192.0.2.1"}',NULL);
INSERT INTO "parameters" VALUES(8,X'B530B3EA44CE981E226E8E8E8AD472ED97277D07','{"content":"Welcome to web2.example.org\n","count":3,"ensure":"file","mode":"0644","nested":{"a":[1,2.5,null]}}',NULL);
CREATE TABLE producers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO "producers" VALUES(1,'puppet.example.org');
CREATE TABLE report_data (
    report_id INTEGER PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    metrics TEXT NOT NULL,
    logs TEXT NOT NULL
);
INSERT INTO "report_data" VALUES(1,'[{"category":"time","name":"total","value":1.25}]','[{"file":null,"level":"notice","line":null,"message":"Applied in changed","source":"Puppet","tags":["notice"],"time":"2026-02-03T04:05:06.000Z"}]');
INSERT INTO "report_data" VALUES(2,'[{"category":"time","name":"total","value":1.25}]','[{"file":null,"level":"notice","line":null,"message":"Applied in unchanged","source":"Puppet","tags":["notice"],"time":"2026-02-03T04:05:06.000Z"}]');
INSERT INTO "report_data" VALUES(3,'[{"category":"time","name":"total","value":1.25}]','[{"file":null,"level":"notice","line":null,"message":"Applied in changed","source":"Puppet","tags":["notice"],"time":"2026-02-03T04:05:06.000Z"}]');
INSERT INTO "report_data" VALUES(4,'[{"category":"time","name":"total","value":1.25}]','[{"file":null,"level":"notice","line":null,"message":"Applied in unchanged","source":"Puppet","tags":["notice"],"time":"2026-02-03T04:05:06.000Z"}]');
INSERT INTO "report_data" VALUES(5,'[{"category":"time","name":"total","value":1.25}]','[{"file":null,"level":"notice","line":null,"message":"Applied in changed","source":"Puppet","tags":["notice"],"time":"2026-02-03T04:05:06.000Z"}]');
INSERT INTO "report_data" VALUES(6,'[{"category":"time","name":"total","value":1.25}]','[{"file":null,"level":"notice","line":null,"message":"Applied in unchanged","source":"Puppet","tags":["notice"],"time":"2026-02-03T04:05:06.000Z"}]');
CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    certname_id INTEGER NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    hash BLOB NOT NULL UNIQUE,
    status TEXT,
    report_type TEXT NOT NULL,
    noop INTEGER,
    noop_pending INTEGER,
    corrective_change INTEGER,
    environment_id INTEGER,
    producer_id INTEGER,
    puppet_version TEXT NOT NULL,
    report_format INTEGER NOT NULL,
    configuration_version TEXT NOT NULL,
    start_time INTEGER NOT NULL,
    end_time INTEGER NOT NULL,
    producer_timestamp INTEGER NOT NULL,
    receive_time INTEGER NOT NULL,
    transaction_uuid TEXT,
    catalog_uuid TEXT,
    code_id TEXT,
    job_id TEXT,
    cached_catalog_status TEXT,
    event_count INTEGER NOT NULL
);
INSERT INTO "reports" VALUES(1,1,X'035F77053660CE543F976E686D00D11F45250002','changed','agent',0,0,1,1,1,'8.11.0',12,'1770091506',1770091506000,1770091516000,1770091506000,1795921228588,NULL,NULL,NULL,NULL,'not_used',1);
INSERT INTO "reports" VALUES(2,1,X'611A82C39CA06DFBFC7537CD21E6DCF833FF6D0D','unchanged','agent',0,0,1,1,1,'8.11.0',12,'1770091506',1770091506000,1770091516000,1770095106000,1795921228656,NULL,NULL,NULL,NULL,'not_used',0);
INSERT INTO "reports" VALUES(3,2,X'6950BE7F2CAF8974CA534A504D73408B5168C692','changed','agent',0,0,0,1,1,'8.11.0',12,'1770091506',1770091506000,1770091516000,1770091506000,1795921228812,NULL,NULL,NULL,NULL,'not_used',1);
INSERT INTO "reports" VALUES(4,2,X'DB027112AE4258900FECD3F559D45E0E688978A9','unchanged','agent',0,0,0,1,1,'8.11.0',12,'1770091506',1770091506000,1770091516000,1770095106000,1795921228861,NULL,NULL,NULL,NULL,'not_used',0);
INSERT INTO "reports" VALUES(5,3,X'30A57F8DE9AB8A33EC0C00C6E41FBDAACE8DD528','changed','agent',0,0,0,1,1,'8.11.0',12,'1770091506',1770091506000,1770091516000,1770091506000,1795921229018,NULL,NULL,NULL,NULL,'not_used',1);
INSERT INTO "reports" VALUES(6,3,X'FF908A9EC9375516DB52F7E7A0B8730976227351','unchanged','agent',0,0,0,1,1,'8.11.0',12,'1770091506',1770091506000,1770091516000,1770095106000,1795921229121,NULL,NULL,NULL,NULL,'not_used',0);
CREATE TABLE resource_events (
    certname_id INTEGER NOT NULL,
    report_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    resource_type TEXT NOT NULL,
    resource_title TEXT NOT NULL,
    property TEXT,
    name TEXT,
    new_value TEXT,
    old_value TEXT,
    message TEXT,
    file TEXT,
    line INTEGER,
    containment_path TEXT,
    containing_class TEXT,
    corrective_change INTEGER,
    PRIMARY KEY (certname_id, report_id, seq)
) WITHOUT ROWID;
INSERT INTO "resource_events" VALUES(1,1,0,'success',1770091506000,'File','/etc/motd','content','content changed','"{sha256}b"','"{sha256}a"','content changed','/code/site.pp',3,'["Stage[main]","Main","File[/etc/motd]"]','Main',1);
INSERT INTO "resource_events" VALUES(2,3,0,'success',1770091506000,'File','/etc/motd','content','content changed','"{sha256}b"','"{sha256}a"','content changed','/code/site.pp',3,'["Stage[main]","Main","File[/etc/motd]"]','Main',0);
INSERT INTO "resource_events" VALUES(3,5,0,'success',1770091506000,'File','/etc/motd','content','content changed','"{sha256}b"','"{sha256}a"','content changed','/code/site.pp',3,'["Stage[main]","Main","File[/etc/motd]"]','Main',0);
CREATE TABLE resources (
    id INTEGER PRIMARY KEY,
    row_hash BLOB NOT NULL UNIQUE,
    parameters_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    exported INTEGER NOT NULL,
    virtual INTEGER NOT NULL DEFAULT 0,
    file TEXT,
    line INTEGER,
    tags TEXT NOT NULL,
    kind TEXT,
    aliases TEXT,
    tag_set_id INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "resources" VALUES(1,X'05F7B5EE79691F8BE9CE52A644FD88853CAEC404',3,'Stage','main',0,0,NULL,NULL,'["stage"]',NULL,NULL,1);
INSERT INTO "resources" VALUES(2,X'27F2F5AB2D9028E1A1819B262E35092F54AE9130',1,'File','/etc/motd',0,0,'/code/site.pp',3,'["file","motd"]',NULL,NULL,4);
INSERT INTO "resources" VALUES(3,X'B2072D39C4F8C23FCC5B940185479EA17FBA6B69',2,'Notify','done',0,0,'/code/site.pp',9,'["notify"]',NULL,NULL,3);
INSERT INTO "resources" VALUES(4,X'EE642C41656228E102B908ADDEBA5D971A7AE46A',4,'Class','Main',0,0,NULL,NULL,'["class","main"]',NULL,NULL,2);
INSERT INTO "resources" VALUES(5,X'1F0A8C095AFEDC57A52B5DBBB6E68CA756D25622',5,'Host','web1.example.org',1,0,'/code/site.pp',12,'["host","monitoring"]',NULL,NULL,5);
INSERT INTO "resources" VALUES(6,X'A69028FE9523CDBF3C145ADA896E2D69DDA9F878',6,'File','/etc/motd',0,0,'/code/site.pp',3,'["file","motd"]',NULL,NULL,4);
INSERT INTO "resources" VALUES(7,X'10AE07CED4859AA0E00BE6B486C7FA09F9ABD579',7,'Host','web2.example.org',1,0,'/code/site.pp',12,'["host","monitoring"]',NULL,NULL,5);
INSERT INTO "resources" VALUES(8,X'48AD6D18250D34E5CE9306A8AEDE0B3D156529A0',8,'File','/etc/motd',0,0,'/code/site.pp',3,'["file","motd"]',NULL,NULL,4);
CREATE TABLE store_meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "store_meta" VALUES('schema',5);
INSERT INTO "store_meta" VALUES('synced',0);
CREATE TABLE tag_set_members (
    tag TEXT NOT NULL,
    tag_set_id INTEGER NOT NULL,
    PRIMARY KEY (tag, tag_set_id)
) WITHOUT ROWID;
INSERT INTO "tag_set_members" VALUES('stage',1);
INSERT INTO "tag_set_members" VALUES('class',2);
INSERT INTO "tag_set_members" VALUES('main',2);
INSERT INTO "tag_set_members" VALUES('notify',3);
INSERT INTO "tag_set_members" VALUES('file',4);
INSERT INTO "tag_set_members" VALUES('motd',4);
INSERT INTO "tag_set_members" VALUES('host',5);
INSERT INTO "tag_set_members" VALUES('monitoring',5);
CREATE TABLE tag_sets (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE
);
INSERT INTO "tag_sets" VALUES(1,X'5AEB739A8147E311249EC0EB2276223A2ED7F1F1');
INSERT INTO "tag_sets" VALUES(2,X'6A5DA676AFD483E3236B1976B00BF23692EA6E2F');
INSERT INTO "tag_sets" VALUES(3,X'B6D8834ED512FC42B04DB2CD2ABDDFF12361DC00');
INSERT INTO "tag_sets" VALUES(4,X'BA0962001CE16D6D0940615C7E8737BD2C81232F');
INSERT INTO "tag_sets" VALUES(5,X'7A77E6D731921358EB676A875CA0D790EFF65696');
CREATE INDEX catalogs_environment ON catalogs (environment_id);
CREATE INDEX resources_type_title ON resources (type, title);
CREATE INDEX resources_parameters ON resources (parameters_id);
CREATE INDEX resources_exported ON resources (type, title) WHERE exported = 1;
CREATE INDEX catalog_resources_resource ON catalog_resources (resource_id, certname_id);
CREATE INDEX exported_tags_resource ON exported_tags (resource_id);
CREATE INDEX exported_params_resource ON exported_params (resource_id, name);
CREATE INDEX factset_facts_fact ON factset_facts (fact_id, certname_id);
CREATE INDEX fact_paths_name ON fact_paths (name);
CREATE INDEX fact_leaves_path ON fact_leaves (path_id, match);
CREATE INDEX certname_packages_package ON certname_packages (package_id, certname_id);
CREATE INDEX reports_certname ON reports (certname_id, producer_timestamp);
CREATE INDEX reports_timestamp ON reports (producer_timestamp);
CREATE INDEX reports_end_time ON reports (end_time);
CREATE INDEX resource_events_timestamp ON resource_events (timestamp);
CREATE INDEX resource_events_resource ON resource_events (resource_type, resource_title);
CREATE INDEX resources_tag_set ON resources (tag_set_id, type);
CREATE INDEX tag_set_members_set ON tag_set_members (tag_set_id);
CREATE INDEX parameter_values_parameters ON parameter_values (parameters_id);
CREATE INDEX catalog_types_type ON catalog_types (type, exported, certname_id, resources);
CREATE INDEX reports_start_time ON reports (start_time);
CREATE INDEX factsets_name_set ON factsets (name_set_id, certname_id);
COMMIT;
