BEGIN TRANSACTION;
CREATE TABLE application_versions (
    version_id TEXT NOT NULL PRIMARY KEY,
    version_name TEXT NOT NULL UNIQUE,
    version_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    created_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
, "application_name" TEXT DEFAULT NULL);
INSERT INTO "application_versions" VALUES('cee8e10a-9e00-45fc-90c3-942c909b5abc','instrc',1795905760000,1795905760000,'instrc');
CREATE TABLE dbos_migrations (version INTEGER NOT NULL PRIMARY KEY);
INSERT INTO "dbos_migrations" VALUES(125);
CREATE TABLE instrc_events (
	number INTEGER NOT NULL, 
	run TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (number)
);
CREATE TABLE instrc_mail (
	number INTEGER NOT NULL, 
	id VARCHAR(64) NOT NULL, 
	run TEXT NOT NULL, 
	body TEXT NOT NULL, 
	verdict INTEGER NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (id)
);
CREATE TABLE instrc_parts (
	process VARCHAR(16) NOT NULL, 
	"key" TEXT NOT NULL, 
	run TEXT NOT NULL, 
	at FLOAT NOT NULL, 
	body BLOB, 
	PRIMARY KEY (process, "key")
);
CREATE TABLE notifications (
    message_uuid TEXT NOT NULL DEFAULT (hex(randomblob(16))) PRIMARY KEY,
    destination_uuid TEXT NOT NULL,
    topic TEXT,
    message TEXT NOT NULL,
    created_at_epoch_ms INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000), "serialization" TEXT DEFAULT NULL, "consumed" BOOLEAN NOT NULL DEFAULT FALSE, consumed_by_function_id INTEGER,
    FOREIGN KEY (destination_uuid) REFERENCES workflow_status(workflow_uuid) 
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE "operation_outputs" (
    workflow_uuid TEXT NOT NULL,
    function_id INTEGER NOT NULL,
    function_name TEXT NOT NULL DEFAULT '',
    output TEXT,
    error TEXT,
    child_workflow_id TEXT,
    started_at_epoch_ms INTEGER,
    completed_at_epoch_ms INTEGER,
    serialization TEXT,
    application_name TEXT DEFAULT NULL,
    retention_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    PRIMARY KEY (workflow_uuid, function_id)
);
INSERT INTO "operation_outputs" VALUES('ended',1,'instrc','{"results":[["userContext1",{"ok":{"decision":"Approve"},"by":{"who":"bob","means":"key"}}]],"letters":["31897f142725c89fe50cf0645c22f066"]}',NULL,NULL,1795905761048,1795905761049,'portable_json','instrc',1795905761000);
CREATE TABLE queues (
    queue_id TEXT PRIMARY KEY DEFAULT (hex(randomblob(16))),
    name TEXT NOT NULL UNIQUE,
    concurrency INTEGER,
    worker_concurrency INTEGER,
    rate_limit_max INTEGER,
    rate_limit_period_sec REAL,
    priority_enabled BOOLEAN NOT NULL DEFAULT FALSE,
    partition_queue BOOLEAN NOT NULL DEFAULT FALSE,
    polling_interval_sec REAL NOT NULL DEFAULT 1.0,
    created_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    updated_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
, "application_name" TEXT DEFAULT NULL, "partition_concurrency" INTEGER DEFAULT NULL, "partition_worker_concurrency" INTEGER DEFAULT NULL, "partition_rate_limit_max" INTEGER DEFAULT NULL, "partition_rate_limit_period_sec" REAL DEFAULT NULL);
INSERT INTO "queues" VALUES('3F4EDC690E6D90045DB0FE35F2D5C724','instrc',NULL,NULL,NULL,NULL,1,0,0.5,1795905760000,1795905760274,'instrc',NULL,NULL,NULL,NULL);
CREATE TABLE streams (
    workflow_uuid TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    "offset" INTEGER NOT NULL, function_id INTEGER NOT NULL DEFAULT 0, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, key, "offset"),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid) 
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_events (
    workflow_uuid TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, key),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid) 
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_events_history (
    workflow_uuid TEXT NOT NULL,
    function_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, function_id, key),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_input (
    workflow_uuid TEXT NOT NULL PRIMARY KEY,
    inputs TEXT,
    retention_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
);
INSERT INTO "workflow_input" VALUES('waits','{"namedArgs":{},"positionalArgs":[{"run":"waits","name":"pay","plan":{"interpreter":"1","kind":"process","process":{"type":"object","properties":{"userContext1":{"type":"object","properties":{"step1_approve":{"type":"object","properties":{"decision":{"enum":["Approve","Reject"]}},"required":["decision"],"references":["prompt"]}},"required":["step1_approve"]}},"required":["userContext1"]},"options":{"asks":2,"elements":100,"pauses":false},"digest":"f5f6e2bb6f0f6ae16c1d4e0862613681708bd930feae6d317cf9feb81aea5a98"},"inputs":{"prompt":"x"},"how":{"folder":".","model":"sample","rehearse":true,"batch":1,"processes":{},"invented":[],"failed":"hold"}}]}',1795905760000);
INSERT INTO "workflow_input" VALUES('ended','{"namedArgs":{},"positionalArgs":[{"run":"ended","name":"pay","plan":{"interpreter":"1","kind":"process","process":{"type":"object","properties":{"userContext1":{"type":"object","properties":{"step1_approve":{"type":"object","properties":{"decision":{"enum":["Approve","Reject"]}},"required":["decision"],"references":["prompt"]}},"required":["step1_approve"]}},"required":["userContext1"]},"options":{"asks":2,"elements":100,"pauses":false},"digest":"f5f6e2bb6f0f6ae16c1d4e0862613681708bd930feae6d317cf9feb81aea5a98"},"inputs":{"prompt":"x"},"how":{"folder":".","model":"sample","rehearse":true,"batch":1,"processes":{},"invented":[],"failed":"hold"}}]}',1795905760000);
INSERT INTO "workflow_input" VALUES('unseen','{"namedArgs":{},"positionalArgs":[{"run":"unseen","name":"pay","plan":{"interpreter":"1","kind":"process","process":{"type":"object","properties":{"userContext1":{"type":"object","properties":{"step1_approve":{"type":"object","properties":{"decision":{"enum":["Approve","Reject"]}},"required":["decision"],"references":["prompt"]}},"required":["step1_approve"]}},"required":["userContext1"]},"options":{"asks":2,"elements":100,"pauses":false},"digest":"f5f6e2bb6f0f6ae16c1d4e0862613681708bd930feae6d317cf9feb81aea5a98"},"inputs":{"prompt":"x"},"how":{"folder":".","model":"sample","rehearse":true,"batch":1,"processes":{},"invented":[],"failed":"hold"}}]}',1795905761000);
CREATE TABLE workflow_output (
    workflow_uuid TEXT NOT NULL PRIMARY KEY,
    output TEXT,
    error TEXT,
    retention_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
);
INSERT INTO "workflow_output" VALUES('ended','{"status":"done","output":{"step1_approve":{"decision":"Approve"}},"value":{"decision":"Approve"}}',NULL,1795905761000);
CREATE TABLE workflow_schedules (
    schedule_id TEXT PRIMARY KEY,
    schedule_name TEXT NOT NULL UNIQUE,
    workflow_name TEXT NOT NULL,
    workflow_class_name TEXT,
    schedule TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'ACTIVE',
    context TEXT NOT NULL
, "last_fired_at" TEXT DEFAULT NULL, "automatic_backfill" BOOLEAN NOT NULL DEFAULT FALSE, "cron_timezone" TEXT DEFAULT NULL, "queue_name" TEXT DEFAULT NULL, "application_name" TEXT DEFAULT NULL);
CREATE TABLE workflow_status (
    workflow_uuid TEXT PRIMARY KEY,
    status TEXT,
    name TEXT,
    authenticated_user TEXT,
    assumed_role TEXT,
    authenticated_roles TEXT,
    request TEXT,
    output TEXT,
    error TEXT,
    executor_id TEXT,
    created_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    updated_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    application_version TEXT,
    application_id TEXT,
    class_name TEXT DEFAULT NULL,
    config_name TEXT DEFAULT NULL,
    recovery_attempts INTEGER DEFAULT 0,
    queue_name TEXT,
    workflow_timeout_ms INTEGER,
    workflow_deadline_epoch_ms INTEGER,
    inputs TEXT,
    started_at_epoch_ms INTEGER,
    deduplication_id TEXT,
    priority INTEGER NOT NULL DEFAULT 0
, queue_partition_key TEXT, forked_from TEXT, "owner_xid" TEXT DEFAULT NULL, "parent_workflow_id" TEXT DEFAULT NULL, "serialization" TEXT DEFAULT NULL, "delay_until_epoch_ms" BIGINT DEFAULT NULL, "was_forked_from" BOOLEAN NOT NULL DEFAULT FALSE, "rate_limited" BOOLEAN NOT NULL DEFAULT FALSE, "completed_at" BIGINT, "attributes" TEXT, "schedule_name" TEXT, "debounce_deadline_epoch_ms" BIGINT DEFAULT NULL, "is_debounced" BOOLEAN NOT NULL DEFAULT FALSE, "application_name" TEXT DEFAULT NULL, "creator_xid" TEXT DEFAULT NULL);
INSERT INTO "workflow_status" VALUES('waits','PENDING','instrc-run',NULL,NULL,NULL,NULL,NULL,NULL,'instrc-d6682bb30b06',1795905760000,1795905760000,'instrc','',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,'c20301b8-9ea2-4a51-a832-087cd584a896',NULL,'portable_json',NULL,0,0,NULL,'null',NULL,NULL,0,'instrc','c20301b8-9ea2-4a51-a832-087cd584a896');
INSERT INTO "workflow_status" VALUES('ended','SUCCESS','instrc-run',NULL,NULL,NULL,NULL,NULL,NULL,'instrc-d6682bb30b06',1795905760000,1795905761000,'instrc','',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'portable_json',NULL,0,0,1795905761000,'null',NULL,NULL,0,'instrc','fa13d842-1ba2-4f0c-a6ea-72bd99ceeac6');
INSERT INTO "workflow_status" VALUES('unseen','PENDING','instrc-run',NULL,NULL,NULL,NULL,NULL,NULL,'instrc-d6682bb30b06',1795905761000,1795905761000,'instrc','',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,'44937de6-0be9-4af3-a19a-bd3642811554',NULL,'portable_json',NULL,0,0,NULL,'null',NULL,NULL,0,'instrc','44937de6-0be9-4af3-a19a-bd3642811554');
CREATE INDEX workflow_status_created_at_index ON workflow_status (created_at);
CREATE INDEX idx_workflow_topic ON notifications (destination_uuid, topic);
CREATE INDEX "idx_workflow_status_delayed" ON "workflow_status" ("delay_until_epoch_ms") WHERE status = 'DELAYED';
CREATE INDEX "idx_workflow_status_forked_from" ON "workflow_status" ("forked_from") WHERE "forked_from" IS NOT NULL;
CREATE INDEX "idx_workflow_status_parent_workflow_id" ON "workflow_status" ("parent_workflow_id") WHERE "parent_workflow_id" IS NOT NULL;
CREATE UNIQUE INDEX "uq_workflow_status_dedup_id" ON "workflow_status" ("queue_name", "deduplication_id") WHERE "deduplication_id" IS NOT NULL;
CREATE INDEX "idx_workflow_status_pending" ON "workflow_status" ("created_at") WHERE "status" = 'PENDING';
CREATE INDEX "idx_workflow_status_failed" ON "workflow_status" ("status", "created_at") WHERE "status" IN ('ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED');
CREATE INDEX "idx_workflow_status_rate_limited" ON "workflow_status" ("queue_name", "started_at_epoch_ms") WHERE "rate_limited" = TRUE;
CREATE INDEX "idx_workflow_status_completed_at" ON "workflow_status" ("completed_at") WHERE "completed_at" IS NOT NULL;
CREATE INDEX "idx_workflow_status_started_at" ON "workflow_status" ("started_at_epoch_ms") WHERE "started_at_epoch_ms" IS NOT NULL;
CREATE INDEX "idx_workflow_status_schedule_name" ON "workflow_status" ("schedule_name") WHERE "schedule_name" IS NOT NULL;
CREATE UNIQUE INDEX "uq_application_versions_owner_version"
    ON application_versions ("application_name", "version_name")
    WHERE "application_name" IS NOT NULL;
CREATE UNIQUE INDEX "uq_application_versions_unclaimed_version"
    ON application_versions ("version_name")
    WHERE "application_name" IS NULL;
CREATE INDEX idx_workflow_input_retention
    ON workflow_input (retention_timestamp);
CREATE INDEX idx_workflow_output_retention
    ON workflow_output (retention_timestamp);
CREATE INDEX idx_operation_outputs_retention
    ON operation_outputs (retention_timestamp);
CREATE INDEX "idx_workflow_status_in_flight_v2" ON "workflow_status" ("queue_name", "status", "priority", "created_at", "application_name") WHERE "status" IN ('ENQUEUED', 'PENDING');
CREATE INDEX "idx_workflow_status_partition_dequeue_v3" ON "workflow_status" ("queue_name", "status", "queue_partition_key", "priority", "created_at", "workflow_uuid", "application_name") WHERE "status" IN ('ENQUEUED', 'PENDING') AND "queue_partition_key" IS NOT NULL;
CREATE INDEX "idx_operation_outputs_completed_at_function_name_v2" ON "operation_outputs" ("completed_at_epoch_ms", "function_name", "application_name");
CREATE INDEX "idx_workflow_status_deadline" ON "workflow_status" ("workflow_deadline_epoch_ms") WHERE "status" IN ('ENQUEUED', 'PENDING', 'DELAYED') AND "workflow_deadline_epoch_ms" IS NOT NULL;
CREATE INDEX "idx_application_versions_timestamp" ON "application_versions" ("version_timestamp" DESC);
CREATE INDEX "idx_application_versions_owner_timestamp" ON "application_versions" ("application_name", "version_timestamp" DESC);
CREATE INDEX ix_instrc_mail_verdict ON instrc_mail (verdict);
CREATE INDEX ix_instrc_events_run ON instrc_events (run);
COMMIT;
