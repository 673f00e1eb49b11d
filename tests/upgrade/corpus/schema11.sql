PRAGMA application_id = 1112886866;
PRAGMA user_version = 11;
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
CREATE TABLE catalog_places (
    certname_id INTEGER PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    places BLOB NOT NULL
, generation INTEGER NOT NULL DEFAULT 0);
INSERT INTO "catalog_places" VALUES(1,X'9BD24499124FC3DD396D0E6AFE2CB5A842DE87FC',X'02020200',0);
INSERT INTO "catalog_places" VALUES(2,X'CFC5C6A68D6394CFA5510DAFBB0CF8C01DAB65D7',X'0202020002',0);
INSERT INTO "catalog_places" VALUES(3,X'D564055E456AF871B07D78982554954BD8345C24',X'0202020002',0);
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
CREATE TABLE catalog_versions (
    certname_id INTEGER NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    valid_from INTEGER NOT NULL,
    hash BLOB NOT NULL,
    previous_hash BLOB,
    version TEXT NOT NULL,
    code_id TEXT,
    environment TEXT,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    change BLOB,
    PRIMARY KEY (certname_id, valid_from)
) WITHOUT ROWID;
INSERT INTO "catalog_versions" VALUES(1,1770091506000,X'9BD24499124FC3DD396D0E6AFE2CB5A842DE87FC',NULL,'1770091506',NULL,'production',4,0,NULL);
INSERT INTO "catalog_versions" VALUES(2,1770091506000,X'CFC5C6A68D6394CFA5510DAFBB0CF8C01DAB65D7',NULL,'1770091506',NULL,'production',5,0,NULL);
INSERT INTO "catalog_versions" VALUES(3,1770091506000,X'D564055E456AF871B07D78982554954BD8345C24',NULL,'1770091506',NULL,'production',5,0,NULL);
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
, kind_set_id INTEGER NOT NULL DEFAULT 0);
INSERT INTO "catalogs" VALUES(1,X'9BD24499124FC3DD396D0E6AFE2CB5A842DE87FC',X'1A0E5E9407998327B4CDFD954D803ADD6D1ABA2C','1770091506',9,1,'68b08e2a-eeb1-4322-b241-bfdf151d294b','68b08e2a-eeb1-4322-b241-bfdf151d294b',NULL,NULL,1,1770091506000,1795947579116,X'024002090408',1);
INSERT INTO "catalogs" VALUES(2,X'CFC5C6A68D6394CFA5510DAFBB0CF8C01DAB65D7',X'CCBBF8F81EE5FF92378401ED2F164327DBED9B3D','1770091506',9,1,'68b08e2a-eeb1-4322-b241-bfdf151d294b','68b08e2a-eeb1-4322-b241-bfdf151d294b',NULL,NULL,1,1770091506000,1795947579448,X'024006200429',2);
INSERT INTO "catalogs" VALUES(3,X'D564055E456AF871B07D78982554954BD8345C24',X'394D25562B2DD79BD63666C11808BB6C70A6B57B','1770091506',9,1,'68b08e2a-eeb1-4322-b241-bfdf151d294b','68b08e2a-eeb1-4322-b241-bfdf151d294b',NULL,NULL,1,1770091506000,1795947579709,X'024006400849',2);
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
CREATE TABLE created_resources (
    certname_id INTEGER PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hashes BLOB NOT NULL
);
CREATE TABLE environments (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO "environments" VALUES(1,'production');
CREATE TABLE exported_collections (
    certname_id INTEGER NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (certname_id, name)
) WITHOUT ROWID;
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
CREATE TABLE factset_versions (
    certname_id INTEGER NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    valid_from INTEGER NOT NULL,
    hash BLOB NOT NULL,
    previous_hash BLOB,
    changes TEXT,
    PRIMARY KEY (certname_id, valid_from)
) WITHOUT ROWID;
INSERT INTO "factset_versions" VALUES(1,1770091506000,X'1167877971ADC8BF54905B08774B3EC39DB24EE7',NULL,NULL);
INSERT INTO "factset_versions" VALUES(2,1770091506000,X'35AD42E90F9E90AC38D6CBA47CBAC15E43977471',NULL,NULL);
INSERT INTO "factset_versions" VALUES(3,1770091506000,X'E00018329A993F2D91FF399717D49CA678BCEE68',NULL,NULL);
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
, steady_hash BLOB);
INSERT INTO "factsets" VALUES(1,X'1167877971ADC8BF54905B08774B3EC39DB24EE7',NULL,X'60045FE5F1B2452B4356AAC3CB167C56D2E3943E',1,1,1770091506000,1795947578924,1,X'1167877971ADC8BF54905B08774B3EC39DB24EE7');
INSERT INTO "factsets" VALUES(2,X'35AD42E90F9E90AC38D6CBA47CBAC15E43977471',NULL,X'BF76E136D42593B36ED1C53F6C642506E1F2E9C7',1,1,1770091506000,1795947579380,1,X'35AD42E90F9E90AC38D6CBA47CBAC15E43977471');
INSERT INTO "factsets" VALUES(3,X'E00018329A993F2D91FF399717D49CA678BCEE68',NULL,X'E468446FFFA11629A4C539A1B80FCFF3CAC674B0',1,1,1770091506000,1795947579644,1,X'E00018329A993F2D91FF399717D49CA678BCEE68');
CREATE TABLE gc_candidates (
    kind INTEGER NOT NULL,
    id INTEGER NOT NULL, lost_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE TABLE kind_set_members (
    kind_set_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    exported INTEGER NOT NULL,
    resources INTEGER NOT NULL,
    PRIMARY KEY (kind_set_id, type, exported, title)
) WITHOUT ROWID;
INSERT INTO "kind_set_members" VALUES(1,'Class','Main',0,1);
INSERT INTO "kind_set_members" VALUES(1,'File','',0,1);
INSERT INTO "kind_set_members" VALUES(1,'Notify','',0,1);
INSERT INTO "kind_set_members" VALUES(1,'Stage','',0,1);
INSERT INTO "kind_set_members" VALUES(2,'Class','Main',0,1);
INSERT INTO "kind_set_members" VALUES(2,'File','',0,1);
INSERT INTO "kind_set_members" VALUES(2,'Host','',1,1);
INSERT INTO "kind_set_members" VALUES(2,'Notify','',0,1);
INSERT INTO "kind_set_members" VALUES(2,'Stage','',0,1);
CREATE TABLE kind_sets (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE
);
INSERT INTO "kind_sets" VALUES(1,X'835CC0389C6B696157148B0875B05C4EC7AECD65');
INSERT INTO "kind_sets" VALUES(2,X'16819A9100D41E71E73C2A3AA3515710E4012E2A');
CREATE TABLE latest_events (
    certname_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    report_id INTEGER NOT NULL,
    environment_id INTEGER,
    status TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    resource_type TEXT NOT NULL,
    resource_title TEXT NOT NULL,
    containing_class TEXT,
    PRIMARY KEY (certname_id, seq)
) WITHOUT ROWID;
CREATE TABLE node_tries (
    certname TEXT NOT NULL,
    environment TEXT NOT NULL,
    version TEXT NOT NULL,
    ends INTEGER NOT NULL,
    actor TEXT NOT NULL,
    PRIMARY KEY (certname, environment)
) WITHOUT ROWID;
CREATE TABLE node_versions (
    certname TEXT NOT NULL,
    environment TEXT NOT NULL,
    version TEXT NOT NULL,
    previous TEXT NOT NULL,
    since INTEGER NOT NULL,
    transaction_uuid TEXT NOT NULL,
    idle INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    PRIMARY KEY (certname, environment)
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
, sealed BLOB);
INSERT INTO "parameters" VALUES(1,X'33DB73646C9297BAD192B2079A385489EC348C36','{"content":"Welcome to db1.example.org\n","count":3,"ensure":"file","mode":"0644","nested":{"a":[1,2.5,null]}}',NULL,NULL);
INSERT INTO "parameters" VALUES(2,X'92CE7DE0D8934D16EB4D7F5D72DB3C110CECAAC1','{"message":"ok"}',NULL,NULL);
INSERT INTO "parameters" VALUES(3,X'A9EB8C2C14AFDE5566AB4652A8D7EB191FDCE698','{}',NULL,NULL);
INSERT INTO "parameters" VALUES(4,X'DB71F0D63D0D14EA099A439279BC6B41397F8121','{}',NULL,NULL);
INSERT INTO "parameters" VALUES(5,X'42A0057C86707344F7A1F1DFF3B4155B1763FF20','{"host_aliases":["www","web"],"ip":"192.0.2.1"}',NULL,NULL);
INSERT INTO "parameters" VALUES(6,X'9C9FE09749FAD323124E1BA10418ADAB7685FE88','{"content":"Welcome to web1.example.org\n","count":3,"ensure":"file","mode":"0644","nested":{"a":[1,2.5,null]}}',NULL,NULL);
INSERT INTO "parameters" VALUES(7,X'86F1A5F91A4B35E2C6DB469E8B847FA8A6AC343C','{"host_aliases":["www","web"],"ip":"192.0.2.1"}',NULL,NULL);
INSERT INTO "parameters" VALUES(8,X'B530B3EA44CE981E226E8E8E8AD472ED97277D07','{"content":"Welcome to web2.example.org\n","count":3,"ensure":"file","mode":"0644","nested":{"a":[1,2.5,null]}}',NULL,NULL);
CREATE TABLE places (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    file TEXT,
    line INTEGER
);
INSERT INTO "places" VALUES(1,X'5AD8A31EAEB7654961C5329C517C1C4D3AAAD712','/code/site.pp',3);
INSERT INTO "places" VALUES(2,X'A7FC25203F63C9A9A6CF31254711C6F8319A3842','/code/site.pp',9);
INSERT INTO "places" VALUES(3,X'DE8A847BFF8C343D69B853A215E6EE775EF2EF96',NULL,NULL);
INSERT INTO "places" VALUES(4,X'DD02F0D6D1FB84296E604A6A42DB542DC81C0613','/code/site.pp',12);
CREATE TABLE producers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO "producers" VALUES(1,'puppet.example.org');
CREATE TABLE report_counts (
    certname_id INTEGER NOT NULL,
    environment_id INTEGER NOT NULL,
    report_type TEXT NOT NULL,
    status TEXT NOT NULL,
    reports INTEGER NOT NULL,
    PRIMARY KEY (certname_id, environment_id, report_type, status)
) WITHOUT ROWID;
INSERT INTO "report_counts" VALUES(1,1,'agent','=changed',1);
INSERT INTO "report_counts" VALUES(1,1,'agent','=unchanged',1);
INSERT INTO "report_counts" VALUES(2,1,'agent','=changed',1);
INSERT INTO "report_counts" VALUES(2,1,'agent','=unchanged',1);
INSERT INTO "report_counts" VALUES(3,1,'agent','=changed',1);
INSERT INTO "report_counts" VALUES(3,1,'agent','=unchanged',1);
CREATE TABLE report_data (
    report_id INTEGER PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    metrics TEXT NOT NULL,
    logs TEXT NOT NULL
);
INSERT INTO "report_data" VALUES(1,'',X'789C3D8C310EC2300C45AF5279A6C80AD0C11B376060A2EA10A5265872D388242C88BBE30E30FEF79EFEF886BB2803A5A6BA03E5172B10A4B54A603020E92F172EC5479B70CE5985E74E52171E3E459E2D2D6B7B86CD5E5ACE5C8D541F0BD0F87B9B8CC8B2150EDDD0A3EBF170C523E18970D823E20D3ED317A4FC2CFB');
INSERT INTO "report_data" VALUES(3,'',X'789C3D8C310EC2300C45AF5279A6C80AD0C11B376060A2EA10A5265872D388242C88BBE30E30FEF79EFEF886BB2803A5A6BA03E5172B10A4B54A603020E92F172EC5479B70CE5985E74E52171E3E459E2D2D6B7B86CD5E5ACE5C8D541F0BD0F87B9B8CC8B2150EDDD0A3EBF170C523E18970D823E20D3ED317A4FC2CFB');
INSERT INTO "report_data" VALUES(5,'',X'789C3D8C310EC2300C45AF5279A6C80AD0C11B376060A2EA10A5265872D388242C88BBE30E30FEF79EFEF886BB2803A5A6BA03E5172B10A4B54A603020E92F172EC5479B70CE5985E74E52171E3E459E2D2D6B7B86CD5E5ACE5C8D541F0BD0F87B9B8CC8B2150EDDD0A3EBF170C523E18970D823E20D3ED317A4FC2CFB');
CREATE TABLE report_kinds (
    id INTEGER PRIMARY KEY,
    certname_id INTEGER NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    report_format INTEGER NOT NULL,
    environment_id INTEGER,
    producer_id INTEGER,
    noop INTEGER,
    noop_pending INTEGER,
    corrective_change INTEGER,
    hash BLOB,
    catalog_uuid BLOB,
    status TEXT,
    puppet_version TEXT NOT NULL,
    configuration_version TEXT NOT NULL,
    code_id TEXT,
    job_id TEXT,
    cached_catalog_status TEXT,
    texts TEXT
);
INSERT INTO "report_kinds" VALUES(1,1,12,1,1,0,0,1,X'0A6D356EEE9369C0D38C4072F94FAD6EF8460167',NULL,'changed','8.11.0','1770091506',NULL,NULL,'not_used','[{"category":"time","name":"total","value":}]');
INSERT INTO "report_kinds" VALUES(2,1,12,1,1,0,0,1,X'2A7974BFC386014875ED62EE852AF265908BF493',NULL,'unchanged','8.11.0','1770091506',NULL,NULL,'not_used','[{"category":"time","name":"total","value":}][{"file":null,"level":"notice","line":null,"message":"Applied in unchanged","source":"Puppet","tags":["notice"],"time":"Z"}]');
INSERT INTO "report_kinds" VALUES(3,2,12,1,1,0,0,0,X'F385D3FB20B48ADE0998E80C3A2C3292B7F73661',NULL,'changed','8.11.0','1770091506',NULL,NULL,'not_used','[{"category":"time","name":"total","value":}]');
INSERT INTO "report_kinds" VALUES(4,2,12,1,1,0,0,0,X'0AB7EBDB7CADBFAE8EF29F46AD2D3705C5EF46DE',NULL,'unchanged','8.11.0','1770091506',NULL,NULL,'not_used','[{"category":"time","name":"total","value":}][{"file":null,"level":"notice","line":null,"message":"Applied in unchanged","source":"Puppet","tags":["notice"],"time":"Z"}]');
INSERT INTO "report_kinds" VALUES(5,3,12,1,1,0,0,0,X'F385D3FB20B48ADE0998E80C3A2C3292B7F73661',NULL,'changed','8.11.0','1770091506',NULL,NULL,'not_used','[{"category":"time","name":"total","value":}]');
INSERT INTO "report_kinds" VALUES(6,3,12,1,1,0,0,0,X'0AB7EBDB7CADBFAE8EF29F46AD2D3705C5EF46DE',NULL,'unchanged','8.11.0','1770091506',NULL,NULL,'not_used','[{"category":"time","name":"total","value":}][{"file":null,"level":"notice","line":null,"message":"Applied in unchanged","source":"Puppet","tags":["notice"],"time":"Z"}]');
CREATE TABLE "reports" (
    id INTEGER PRIMARY KEY,
    certname_id INTEGER NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    kind_id INTEGER NOT NULL,
    start_time INTEGER NOT NULL,
    end_time INTEGER NOT NULL,
    producer_timestamp INTEGER NOT NULL,
    receive_time INTEGER NOT NULL,
    transaction_uuid BLOB,
    hash BLOB NOT NULL,
    numbers BLOB,
    plan INTEGER,
    event_count INTEGER,
    catalog_uuid BLOB
);
INSERT INTO "reports" VALUES(1,1,1,1770091506000,1770091516000,1770091506000,1795947579220,NULL,X'035F77053660CE543F976E686D00D11F45250002',X'1A25FF',NULL,1,NULL);
INSERT INTO "reports" VALUES(2,1,2,1770091506000,1770091516000,1770095106000,1795947579306,NULL,X'611A82C39CA06DFBFC7537CD21E6DCF833FF6D0D',X'1A25F2026B02B03D04C05C06A000FF',NULL,NULL,NULL);
INSERT INTO "reports" VALUES(3,2,3,1770091506000,1770091516000,1770091506000,1795947579496,NULL,X'6950BE7F2CAF8974CA534A504D73408B5168C692',X'1A25FF',NULL,1,NULL);
INSERT INTO "reports" VALUES(4,2,4,1770091506000,1770091516000,1770095106000,1795947579573,NULL,X'DB027112AE4258900FECD3F559D45E0E688978A9',X'1A25F2026B02B03D04C05C06A000FF',NULL,NULL,NULL);
INSERT INTO "reports" VALUES(5,3,5,1770091506000,1770091516000,1770091506000,1795947579762,NULL,X'30A57F8DE9AB8A33EC0C00C6E41FBDAACE8DD528',X'1A25FF',NULL,1,NULL);
INSERT INTO "reports" VALUES(6,3,6,1770091506000,1770091516000,1770095106000,1795947579817,NULL,X'FF908A9EC9375516DB52F7E7A0B8730976227351',X'1A25F2026B02B03D04C05C06A000FF',NULL,NULL,NULL);
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
CREATE TABLE rollout_events (
    rollout_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    actor TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL,
    sent INTEGER NOT NULL,
    PRIMARY KEY (rollout_id, number)
) WITHOUT ROWID;
CREATE TABLE rollout_members (
    certname TEXT NOT NULL,
    rollout_id INTEGER NOT NULL,
    wave INTEGER NOT NULL,
    judged INTEGER NOT NULL,
    verdict TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '',
    proofs INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (certname, rollout_id)
) WITHOUT ROWID;
CREATE TABLE rollout_plans (
    digest TEXT PRIMARY KEY,
    plan TEXT NOT NULL
);
CREATE TABLE rollout_servers (
    server TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    versions TEXT NOT NULL,
    forgotten INTEGER NOT NULL
);
CREATE TABLE rollouts (
    id INTEGER PRIMARY KEY,
    environment TEXT NOT NULL,
    from_version TEXT NOT NULL,
    to_version TEXT NOT NULL,
    plan_digest TEXT NOT NULL,
    state TEXT NOT NULL,
    wave INTEGER NOT NULL,
    moved INTEGER NOT NULL,
    resume_state TEXT NOT NULL,
    hold INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    started INTEGER NOT NULL,
    since INTEGER NOT NULL,
    starter TEXT NOT NULL,
    approved INTEGER NOT NULL,
    reason TEXT NOT NULL,
    live INTEGER NOT NULL
);
CREATE TABLE store_meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "store_meta" VALUES('schema',11);
INSERT INTO "store_meta" VALUES('synced',0);
INSERT INTO "store_meta" VALUES('usable_since',11);
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
CREATE TABLE undeclared (
    certname_id INTEGER NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    key BLOB NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    name TEXT NOT NULL,
    since INTEGER NOT NULL,
    closed INTEGER,
    removed INTEGER NOT NULL DEFAULT 0,
    environment TEXT,
    version TEXT NOT NULL,
    code_id TEXT,
    file TEXT,
    line INTEGER,
    created INTEGER NOT NULL,
    removal TEXT,
    PRIMARY KEY (certname_id, key)
) WITHOUT ROWID;
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
CREATE INDEX resource_events_timestamp ON resource_events (timestamp);
CREATE INDEX resource_events_resource ON resource_events (resource_type, resource_title);
CREATE INDEX resources_tag_set ON resources (tag_set_id, type);
CREATE INDEX tag_set_members_set ON tag_set_members (tag_set_id);
CREATE INDEX parameter_values_parameters ON parameter_values (parameters_id);
CREATE INDEX catalog_types_type ON catalog_types (type, exported, certname_id, resources);
CREATE INDEX factsets_name_set ON factsets (name_set_id, certname_id);
CREATE INDEX catalog_versions_valid_from ON catalog_versions (valid_from);
CREATE INDEX gc_candidates_lost_at ON gc_candidates (kind, lost_at);
CREATE INDEX resource_events_corrective ON resource_events (timestamp) WHERE corrective_change = 1;
CREATE INDEX factset_versions_valid_from ON factset_versions (valid_from);
CREATE INDEX catalogs_kind_set ON catalogs (kind_set_id, environment_id, certname_id);
CREATE INDEX exported_collections_type ON exported_collections (type, certname_id);
CREATE INDEX latest_events_resource
    ON latest_events (resource_type, resource_title, status, certname_id, report_id);
CREATE INDEX latest_events_class
    ON latest_events (containing_class, status, certname_id, report_id);
CREATE INDEX catalog_places_generation ON catalog_places (generation);
CREATE UNIQUE INDEX rollouts_live ON rollouts (environment) WHERE live = 1;
CREATE INDEX rollout_members_rollout ON rollout_members (rollout_id, wave);
CREATE INDEX undeclared_closed ON undeclared (closed) WHERE closed IS NOT NULL;
CREATE UNIQUE INDEX report_kinds_hash ON report_kinds (certname_id, hash);
CREATE INDEX reports_hash ON reports
 (hash);
CREATE INDEX reports_certname ON reports (certname_id, producer_timestamp);
CREATE INDEX reports_timestamp ON reports (producer_timestamp);
CREATE INDEX reports_end_time ON reports (end_time);
CREATE INDEX reports_start_time ON reports (start_time);
CREATE TRIGGER reports_counted AFTER INSERT ON reports BEGIN
 INSERT INTO report_counts (certname_id, environment_id, report_type, status, reports)
     SELECT new.certname_id, coalesce(k.environment_id, 0),
         CASE WHEN new.plan IS NULL THEN 'agent' ELSE 'plan' END, coalesce('=' || k.status, ''), 1
     FROM report_kinds k WHERE k.id = new.kind_id
     ON CONFLICT (certname_id, environment_id, report_type, status)
     DO UPDATE SET reports = reports + 1;
 END;
CREATE TRIGGER reports_discounted AFTER DELETE ON reports BEGIN
 UPDATE report_counts SET reports = reports - 1 WHERE certname_id = old.certname_id
     AND environment_id =
         coalesce((SELECT environment_id FROM report_kinds WHERE id = old.kind_id), 0)
     AND report_type = CASE WHEN old.plan IS NULL THEN 'agent' ELSE 'plan' END
     AND status = coalesce('=' || (SELECT status FROM report_kinds WHERE id = old.kind_id), '');
 DELETE FROM report_counts WHERE certname_id = old.certname_id AND reports <= 0;
 END;
COMMIT;
