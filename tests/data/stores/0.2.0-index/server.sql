BEGIN TRANSACTION;
CREATE TABLE instrc_audit (
	number INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	who TEXT NOT NULL, 
	means VARCHAR(8) NOT NULL, 
	action VARCHAR(32) NOT NULL, 
	run TEXT, 
	question TEXT, 
	digest VARCHAR(64), 
	PRIMARY KEY (number)
);
INSERT INTO "instrc_audit" VALUES(1,1.79590576082629489905e+09,'boss','key','start','waits',NULL,'b2c6fa432c7431184bb3a2e6a832348f92d09418f9dafb8f08bca2d429282ce2');
INSERT INTO "instrc_audit" VALUES(2,1795905760.86254,'boss','key','start','ended',NULL,'b2c6fa432c7431184bb3a2e6a832348f92d09418f9dafb8f08bca2d429282ce2');
INSERT INTO "instrc_audit" VALUES(3,1.79590576088466334341e+09,'bob','key','answer','ended','userContext1','a0d93128065b65c190068a3a95b3a4428cf1e8b834b665683be66002bd550849');
INSERT INTO "instrc_audit" VALUES(4,1795905761.09334,'boss','key','start','unseen',NULL,'b2c6fa432c7431184bb3a2e6a832348f92d09418f9dafb8f08bca2d429282ce2');
CREATE TABLE instrc_candidates (
	who TEXT NOT NULL, 
	opened FLOAT NOT NULL, 
	run TEXT NOT NULL, 
	question TEXT NOT NULL, 
	PRIMARY KEY (who, opened, run, question)
);
INSERT INTO "instrc_candidates" VALUES('*',1.79590576082751297946e+09,'waits','userContext1');
CREATE TABLE instrc_claims (
	run TEXT NOT NULL, 
	question TEXT NOT NULL, 
	who TEXT NOT NULL, 
	until FLOAT NOT NULL, 
	PRIMARY KEY (run, question)
);
CREATE TABLE instrc_cursors (
	name VARCHAR(32) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE instrc_feed (
	number INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	run TEXT NOT NULL, 
	program TEXT NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO "instrc_feed" VALUES(1,1.79590576083048057559e+09,'run.started','waits','pay','{"who":"boss"}');
INSERT INTO "instrc_feed" VALUES(2,1.79590576083114314082e+09,'question.opened','waits','pay','{"question":"userContext1","by":"person"}');
INSERT INTO "instrc_feed" VALUES(3,1.79590576083132910734e+09,'run.waiting','waits','pay','{}');
INSERT INTO "instrc_feed" VALUES(4,1.7959057608637554646e+09,'run.started','ended','pay','{"who":"boss"}');
INSERT INTO "instrc_feed" VALUES(5,1.795905760864007473e+09,'question.opened','ended','pay','{"question":"userContext1","by":"person"}');
INSERT INTO "instrc_feed" VALUES(6,1.79590576086414194104e+09,'run.waiting','ended','pay','{}');
INSERT INTO "instrc_feed" VALUES(7,1.79590576107110190388e+09,'question.answered','ended','pay','{"question":"userContext1","who":["bob"]}');
INSERT INTO "instrc_feed" VALUES(8,1.79590576107134890552e+09,'question.closed','ended','pay','{"question":"userContext1"}');
INSERT INTO "instrc_feed" VALUES(9,1.79590576107154130934e+09,'run.done','ended','pay','{}');
INSERT INTO "instrc_feed" VALUES(10,1.79590576109469699864e+09,'run.started','unseen','pay','{"who":"boss"}');
INSERT INTO "instrc_feed" VALUES(11,1.79590576109511756899e+09,'question.opened','unseen','pay','{"question":"userContext1","by":"person"}');
INSERT INTO "instrc_feed" VALUES(12,1.79590576109535026544e+09,'run.waiting','unseen','pay','{}');
CREATE TABLE instrc_index (
	run TEXT NOT NULL, 
	program TEXT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	began FLOAT NOT NULL, 
	ended FLOAT, 
	starter TEXT, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (run)
);
INSERT INTO "instrc_index" VALUES('waits','pay','waiting',1795905760.0,NULL,'boss',1.79590576082751297946e+09);
INSERT INTO "instrc_index" VALUES('ended','pay','done',1795905760.0,1795905761.0,'boss',1.79590576106812715526e+09);
CREATE TABLE instrc_keys (
	id VARCHAR(32) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	roles TEXT NOT NULL, 
	groups TEXT NOT NULL, 
	made FLOAT NOT NULL, 
	expires FLOAT, 
	used FLOAT, 
	PRIMARY KEY (id)
);
CREATE TABLE instrc_metadata (
	run TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (run, "key")
);
INSERT INTO "instrc_metadata" VALUES('waits','team','red');
CREATE TABLE instrc_nonces (
	nonce VARCHAR(64) NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (nonce)
);
CREATE TABLE instrc_questions (
	run TEXT NOT NULL, 
	question TEXT NOT NULL, 
	program TEXT NOT NULL, 
	"by" VARCHAR(8) NOT NULL, 
	steps TEXT NOT NULL, 
	show TEXT NOT NULL, 
	schema TEXT NOT NULL, 
	opened FLOAT NOT NULL, 
	due FLOAT, 
	PRIMARY KEY (run, question)
);
INSERT INTO "instrc_questions" VALUES('waits','userContext1','pay','person','["step1_approve"]','{"prompt":"x"}','{"type":"object","properties":{"decision":{"enum":["Approve","Reject"]}},"required":["decision"]}',1.79590576082751297946e+09,NULL);
CREATE TABLE instrc_requests (
	"key" TEXT NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	run TEXT NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE instrc_sessions (
	hash VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	groups TEXT NOT NULL, 
	"key" VARCHAR(32), 
	expires FLOAT NOT NULL, 
	PRIMARY KEY (hash)
);
CREATE TABLE instrc_votes (
	run TEXT NOT NULL, 
	question TEXT NOT NULL, 
	who TEXT NOT NULL, 
	means VARCHAR(8) NOT NULL, 
	at FLOAT NOT NULL, 
	data TEXT NOT NULL, 
	comment TEXT, 
	PRIMARY KEY (run, question, who)
);
INSERT INTO "instrc_votes" VALUES('ended','userContext1','bob','key',1.79590576088267350196e+09,'{"decision":"Approve"}',NULL);
CREATE INDEX instrc_index_began ON instrc_index (began, run);
CREATE INDEX instrc_index_status ON instrc_index (status, began, run);
CREATE INDEX instrc_index_program ON instrc_index (program, began, run);
CREATE INDEX instrc_metadata_value ON instrc_metadata ("key", value, run);
CREATE INDEX instrc_questions_due ON instrc_questions (due);
CREATE INDEX instrc_questions_opened ON instrc_questions (opened, run, question);
COMMIT;
