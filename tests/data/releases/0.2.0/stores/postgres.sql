SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA dbos;
CREATE FUNCTION dbos.enqueue_workflow(workflow_name text, queue_name text, positional_args json[] DEFAULT ARRAY[]::json[], named_args json DEFAULT '{}'::json, class_name text DEFAULT NULL::text, config_name text DEFAULT NULL::text, workflow_id text DEFAULT NULL::text, app_version text DEFAULT NULL::text, timeout_ms bigint DEFAULT NULL::bigint, deadline_epoch_ms bigint DEFAULT NULL::bigint, deduplication_id text DEFAULT NULL::text, priority integer DEFAULT NULL::integer, queue_partition_key text DEFAULT NULL::text, authenticated_user text DEFAULT NULL::text, authenticated_roles text DEFAULT NULL::text, delay_until_epoch_ms bigint DEFAULT NULL::bigint, application_name text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    v_workflow_id TEXT;
    v_serialized_inputs TEXT;
    v_owner_xid TEXT;
    v_now BIGINT;
    v_recovery_attempts INT4 := 0;
    v_priority INT4;
    v_status TEXT;
BEGIN
    -- Validate required parameters
    IF workflow_name IS NULL OR workflow_name = '' THEN
        RAISE EXCEPTION 'Workflow name cannot be null or empty';
    END IF;
    IF queue_name IS NULL OR queue_name = '' THEN
        RAISE EXCEPTION 'Queue name cannot be null or empty';
    END IF;
    IF named_args IS NOT NULL AND jsonb_typeof(named_args::jsonb) != 'object' THEN
        RAISE EXCEPTION 'Named args must be a JSON object';
    END IF;
    IF workflow_id IS NOT NULL AND workflow_id = '' THEN
        RAISE EXCEPTION 'Workflow ID cannot be an empty string if provided.';
    END IF;
    IF delay_until_epoch_ms IS NOT NULL AND delay_until_epoch_ms < 0 THEN
        RAISE EXCEPTION 'delay_until_epoch_ms must be >= 0';
    END IF;
    v_workflow_id := COALESCE(workflow_id, gen_random_uuid()::TEXT);
    v_owner_xid := gen_random_uuid()::TEXT;
    v_priority := COALESCE(priority, 0);
    v_serialized_inputs := json_build_object(
        'positionalArgs', positional_args,
        'namedArgs', named_args
    )::TEXT;
    v_now := EXTRACT(epoch FROM now()) * 1000;
    v_status := CASE WHEN delay_until_epoch_ms IS NULL THEN 'ENQUEUED' ELSE 'DELAYED' END;
    INSERT INTO "dbos".workflow_status (
        workflow_uuid, status,
        name, class_name, config_name,
        queue_name, deduplication_id, priority, queue_partition_key,
        application_version,
        created_at, updated_at, recovery_attempts,
        workflow_timeout_ms, workflow_deadline_epoch_ms,
        parent_workflow_id, owner_xid, serialization,
        authenticated_user, authenticated_roles,
        delay_until_epoch_ms, application_name
    ) VALUES (
        v_workflow_id, v_status,
        workflow_name, class_name, config_name,
        queue_name, deduplication_id, v_priority, queue_partition_key,
        app_version,
        v_now, v_now, v_recovery_attempts,
        timeout_ms, deadline_epoch_ms,
        NULL, v_owner_xid, 'portable_json',
        authenticated_user, authenticated_roles,
        delay_until_epoch_ms, application_name
    )
    ON CONFLICT (workflow_uuid)
    DO UPDATE SET
        updated_at = EXCLUDED.updated_at;
    INSERT INTO "dbos".workflow_input (
        workflow_uuid, inputs, retention_timestamp
    ) VALUES (
        v_workflow_id, v_serialized_inputs, v_now
    )
    ON CONFLICT (workflow_uuid) DO NOTHING;
    RETURN v_workflow_id;
EXCEPTION
    WHEN unique_violation THEN
        RAISE EXCEPTION 'DBOS queue duplicated'
            USING DETAIL = format('Workflow %s with queue %s and deduplication ID %s already exists', v_workflow_id, queue_name, deduplication_id),
                ERRCODE = 'unique_violation';
END;
$$;
CREATE FUNCTION dbos.notifications_function() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    payload text := NEW.destination_uuid || '::' || NEW.topic;
BEGIN
    PERFORM pg_notify('dbos_notifications_channel', payload);
    RETURN NEW;
END;
$$;
CREATE FUNCTION dbos.send_message(destination_id text, message json, topic text DEFAULT NULL::text, message_id text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    v_topic TEXT := COALESCE(topic, '__null__topic__');
    v_message_id TEXT := COALESCE(message_id, gen_random_uuid()::TEXT);
BEGIN
    INSERT INTO "dbos".notifications (
        destination_uuid, topic, message, message_uuid, serialization
    ) VALUES (
        destination_id, v_topic, message, v_message_id, 'portable_json'
    )
    ON CONFLICT (message_uuid) DO NOTHING;
EXCEPTION
    WHEN foreign_key_violation THEN
        RAISE EXCEPTION 'DBOS non-existent workflow'
            USING DETAIL = format('Destination workflow %s does not exist', destination_id),
                ERRCODE = 'foreign_key_violation';
END;
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE dbos.application_versions (
    version_id text NOT NULL,
    version_name text NOT NULL,
    version_timestamp bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL,
    created_at bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL,
    application_name text
);
CREATE TABLE dbos.dbos_migrations (
    version bigint NOT NULL
);
CREATE TABLE dbos.event_dispatch_kv (
    service_name text NOT NULL,
    workflow_fn_name text NOT NULL,
    key text NOT NULL,
    value text,
    update_seq numeric(38,0),
    update_time numeric(38,15)
);
CREATE TABLE dbos.notifications (
    message_uuid text DEFAULT gen_random_uuid() NOT NULL,
    destination_uuid text NOT NULL,
    topic text,
    message text NOT NULL,
    created_at_epoch_ms bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL,
    serialization text,
    consumed boolean DEFAULT false NOT NULL,
    consumed_by_function_id integer
);
CREATE TABLE dbos.operation_outputs (
    workflow_uuid text NOT NULL,
    function_id integer NOT NULL,
    function_name text DEFAULT ''::text NOT NULL,
    output text,
    error text,
    child_workflow_id text,
    started_at_epoch_ms bigint,
    completed_at_epoch_ms bigint,
    serialization text,
    application_name text,
    retention_timestamp bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL
);
CREATE TABLE dbos.queues (
    queue_id text DEFAULT (gen_random_uuid())::text NOT NULL,
    name text NOT NULL,
    concurrency integer,
    worker_concurrency integer,
    rate_limit_max integer,
    rate_limit_period_sec double precision,
    priority_enabled boolean DEFAULT false NOT NULL,
    partition_queue boolean DEFAULT false NOT NULL,
    polling_interval_sec double precision DEFAULT 1.0 NOT NULL,
    created_at bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL,
    updated_at bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL,
    application_name text,
    partition_concurrency integer,
    partition_worker_concurrency integer,
    partition_rate_limit_max integer,
    partition_rate_limit_period_sec double precision
);
CREATE TABLE dbos.streams (
    workflow_uuid text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    "offset" integer NOT NULL,
    function_id integer DEFAULT 0 NOT NULL,
    serialization text
);
CREATE TABLE dbos.workflow_events (
    workflow_uuid text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    serialization text
);
CREATE TABLE dbos.workflow_events_history (
    workflow_uuid text NOT NULL,
    function_id integer NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    serialization text
);
CREATE TABLE dbos.workflow_input (
    workflow_uuid text NOT NULL,
    inputs text,
    retention_timestamp bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL
);
CREATE TABLE dbos.workflow_output (
    workflow_uuid text NOT NULL,
    output text,
    error text,
    retention_timestamp bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL
);
CREATE TABLE dbos.workflow_schedules (
    schedule_id text NOT NULL,
    schedule_name text NOT NULL,
    workflow_name text NOT NULL,
    workflow_class_name text,
    schedule text NOT NULL,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    context text NOT NULL,
    last_fired_at text,
    automatic_backfill boolean DEFAULT false NOT NULL,
    cron_timezone text,
    queue_name text,
    application_name text
);
CREATE TABLE dbos.workflow_status (
    workflow_uuid text NOT NULL,
    status text,
    name text,
    authenticated_user text,
    assumed_role text,
    authenticated_roles text,
    request text,
    output text,
    error text,
    executor_id text,
    created_at bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL,
    updated_at bigint DEFAULT ((EXTRACT(epoch FROM now()) * 1000.0))::bigint NOT NULL,
    application_version text,
    application_id text,
    class_name character varying(255) DEFAULT NULL::character varying,
    config_name character varying(255) DEFAULT NULL::character varying,
    recovery_attempts bigint DEFAULT 0,
    queue_name text,
    workflow_timeout_ms bigint,
    workflow_deadline_epoch_ms bigint,
    inputs text,
    started_at_epoch_ms bigint,
    deduplication_id text,
    priority integer DEFAULT 0 NOT NULL,
    queue_partition_key text,
    forked_from text,
    owner_xid text,
    parent_workflow_id text,
    serialization text,
    delay_until_epoch_ms bigint,
    was_forked_from boolean DEFAULT false NOT NULL,
    rate_limited boolean DEFAULT false NOT NULL,
    completed_at bigint,
    attributes jsonb,
    schedule_name text,
    debounce_deadline_epoch_ms bigint,
    is_debounced boolean DEFAULT false NOT NULL,
    application_name text,
    creator_xid text
);
CREATE TABLE public.instrc_events (
    number bigint NOT NULL,
    run text NOT NULL,
    body bytea NOT NULL
);
CREATE SEQUENCE public.instrc_events_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.instrc_events_number_seq OWNED BY public.instrc_events.number;
CREATE TABLE public.instrc_mail (
    number integer NOT NULL,
    id character varying(64) NOT NULL,
    run text NOT NULL,
    body text NOT NULL,
    verdict integer NOT NULL
);
CREATE SEQUENCE public.instrc_mail_number_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.instrc_mail_number_seq OWNED BY public.instrc_mail.number;
ALTER TABLE ONLY public.instrc_events ALTER COLUMN number SET DEFAULT nextval('public.instrc_events_number_seq'::regclass);
ALTER TABLE ONLY public.instrc_mail ALTER COLUMN number SET DEFAULT nextval('public.instrc_mail_number_seq'::regclass);
INSERT INTO dbos.application_versions VALUES ('3f1538f8-8821-4a20-9bd8-af809be4c7d4', 'instrc', 1795786601127, 1795786601127, 'instrc');
INSERT INTO dbos.dbos_migrations VALUES (125);
INSERT INTO dbos.operation_outputs VALUES ('waits', 1, 'instrc', '{"results":[["llmContext1",{"ok":{"step1_draft":{"text":"Dear Ann"}},"usage":{"input_tokens":7,"output_tokens":2}}]]}', NULL, NULL, 1795786601616, 1795786601637, 'portable_json', 'instrc', 1795786601652);
INSERT INTO dbos.operation_outputs VALUES ('waits', 2, 'instrc', '{"results":[["eachContext1[1].serverContext1.step2_look",{"ok":{"text":"saw 1"}}],["eachContext1[2].serverContext1.step2_look",{"ok":{"text":"saw 2"}}]]}', NULL, NULL, 1795786601675, 1795786601694, 'portable_json', 'instrc', 1795786601702);
INSERT INTO dbos.operation_outputs VALUES ('held', 1, 'instrc', '{"results":[["llmContext1",{"ok":{"step1_draft":{"text":"Dear Ann"}},"usage":{"input_tokens":7,"output_tokens":2}}]]}', NULL, NULL, 1795786601777, 1795786601779, 'portable_json', 'instrc', 1795786601781);
INSERT INTO dbos.operation_outputs VALUES ('held', 2, 'instrc', '{"results":[["eachContext1[1].serverContext1.step2_look",{"ok":{"text":"saw 1"}}],["eachContext1[2].serverContext1.step2_look",{"ok":{"text":"saw 2"}}]]}', NULL, NULL, 1795786601783, 1795786601784, 'portable_json', 'instrc', 1795786601785);
INSERT INTO dbos.operation_outputs VALUES ('held', 3, 'instrc', '{"results":[["userContext1",{"ok":{"decision":"Approve"}}]],"letters":["53eecaa4ce12865f9d8272f79a16729b"]}', NULL, NULL, 1795786601828, 1795786601830, 'portable_json', 'instrc', 1795786601831);
INSERT INTO dbos.operation_outputs VALUES ('held', 4, 'instrc', '{"held":{"serverContext2.step5_send":{"kind":"failed","code":"unavailable","message":"down","place":"../make.py:15"}}}', NULL, NULL, 1795786601835, 1795786601837, 'portable_json', 'instrc', 1795786601838);
INSERT INTO dbos.queues VALUES ('db736a98-0825-4700-a8bd-9ed2f4316da5', 'instrc', NULL, NULL, NULL, NULL, true, false, 0.5, 1795786601230, 1795786601220, 'instrc', NULL, NULL, NULL, NULL);
INSERT INTO dbos.workflow_input VALUES ('waits', '{"namedArgs":{},"positionalArgs":[{"run":"waits","name":"letter","plan":{"interpreter":"1","kind":"process","process":{"type":"object","properties":{"llmContext1":{"type":"object","properties":{"step1_draft":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"references":["prompt"]}},"required":["step1_draft"]},"eachContext1":{"type":"array","items":{"type":"object","properties":{"serverContext1":{"type":"object","properties":{"step2_look":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"activity":"Look","arguments":"x"}},"required":["step2_look"]}},"required":["serverContext1"]},"maxItems":1000,"each":{"item":"x","in":"prompt","value":"step2_look.text","key":"step3_each"}},"userContext1":{"type":"object","properties":{"step4_approve":{"type":"object","properties":{"decision":{"enum":["Approve","Reject"]}},"required":["decision"],"references":["step1_draft"]}},"required":["step4_approve"]},"serverContext2":{"type":"object","properties":{"step5_send":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"activity":"Send","arguments":"step4_approve.decision"}},"required":["step5_send"]}},"required":["llmContext1","eachContext1","userContext1","serverContext2"]},"options":{"asks":2,"elements":100},"digest":"3f6b8cc6d0a9c84ba4c44d67fded7eee046e27a62752e8fa281cbc127f87eb57"},"inputs":{"prompt":[1,2]},"how":{"failed":"hold"}}]}', 1795786601480);
INSERT INTO dbos.workflow_input VALUES ('held', '{"namedArgs":{},"positionalArgs":[{"run":"held","name":"letter","plan":{"interpreter":"1","kind":"process","process":{"type":"object","properties":{"llmContext1":{"type":"object","properties":{"step1_draft":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"references":["prompt"]}},"required":["step1_draft"]},"eachContext1":{"type":"array","items":{"type":"object","properties":{"serverContext1":{"type":"object","properties":{"step2_look":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"activity":"Look","arguments":"x"}},"required":["step2_look"]}},"required":["serverContext1"]},"maxItems":1000,"each":{"item":"x","in":"prompt","value":"step2_look.text","key":"step3_each"}},"userContext1":{"type":"object","properties":{"step4_approve":{"type":"object","properties":{"decision":{"enum":["Approve","Reject"]}},"required":["decision"],"references":["step1_draft"]}},"required":["step4_approve"]},"serverContext2":{"type":"object","properties":{"step5_send":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"activity":"Send","arguments":"step4_approve.decision"}},"required":["step5_send"]}},"required":["llmContext1","eachContext1","userContext1","serverContext2"]},"options":{"asks":2,"elements":100},"digest":"3f6b8cc6d0a9c84ba4c44d67fded7eee046e27a62752e8fa281cbc127f87eb57"},"inputs":{"prompt":[1,2]},"how":{"failed":"hold"}}]}', 1795786601769);
INSERT INTO dbos.workflow_status VALUES ('waits', 'PENDING', 'instrc-run', NULL, NULL, NULL, NULL, NULL, NULL, 'instrc-6848202b4e65', 1795786601480, 1795786601480, 'instrc', '', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, '97c0dd01-96c1-4c3b-b046-1a9a280684a5', NULL, 'portable_json', NULL, false, false, NULL, 'null', NULL, NULL, false, 'instrc', '97c0dd01-96c1-4c3b-b046-1a9a280684a5');
INSERT INTO dbos.workflow_status VALUES ('held', 'PENDING', 'instrc-run', NULL, NULL, NULL, NULL, NULL, NULL, 'instrc-6848202b4e65', 1795786601769, 1795786601769, 'instrc', '', NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, '1f31850a-8c6d-40f6-b4c3-2cd10f0e9889', NULL, 'portable_json', NULL, false, false, NULL, 'null', NULL, NULL, false, 'instrc', '1f31850a-8c6d-40f6-b4c3-2cd10f0e9889');
INSERT INTO public.instrc_events VALUES (1, 'waits', '\x789c8550b14ec3400cfd15cb73a89a4a4d6856360618183af4227ab46e73b471c2d9a5a02aff8eaf955081815becf7fcace77b27a47762c50abdec688d197a0379399b96b74531ce47c5789a4f666586f1c0a63afaa062aab036b0dfb7771d2b7d686ed4aa39f0ee0f2b4abd60b53837f9f33afa8d626dfcc575de788520b0e3eec8201d6c7cac1cdfa4e7f8e418c0611fbbb65787152c12019067973a49a5763c7c6f389ec7a004cb2bbb65065ee0fee9f10134d989d7209b40629040560db57ee4381d7beeb13aa17ef664e7752fafb4529bd8093d45b5a534bdfecbbfe294c4954a3406dee23058a4f47608d152b778ceaafa37fb23b461f802839b8d46');
INSERT INTO public.instrc_events VALUES (2, 'waits', '\x789c4d90d16ac3300c457f65e83914bb69e22c6f65fb8b318a89b5d6cc918d2daf83907f9f3c3ad89b8e747441da00bf901866b054ee98d1410756589be7c14ce3a8f461d4c3a08dee205712f16e3d17b1bc1308617d89c4f8cdba2dfe66c0bc41614cfae2b2fde0864d10fb156d7e3a13c1be77c0b758af37899a37a11539fbe501b5d82bb63d4fa9f285e327928c4c07b1f2ffce51e42516c9a61a82a44487e10f3226ebb3586fefcd5a53b09ef8c10597484e401d9452bd9efad3b11572ea64fa537b02e39ada27f61f12525e37');
INSERT INTO public.instrc_events VALUES (3, 'waits', '\x789c558d410ac2301045ef32eb128c9034ba75eb0d4424a4030e86a424d36829dedd09e2c2e5fbf3fe9f0db061623842f031e2040378213d1ecce8acdd6965b531ceb801ca92447b7ae22a164d02e8c3fd9413e38bf5455f55c5d2b0fc125519e7fd2de6fce8b381a911af523b7f937e16fab328cd4bfffffe00244d30df');
INSERT INTO public.instrc_events VALUES (4, 'waits', '\x789c558d410ac2301045ef32eb124ca489ba75eb0d8a4848071c0c4949a6b145bcbb53c485cbf7e7fd3f2fc08689e104c1c7882374e085b43bf6ee60ed4e2bab7bb737a6833227d19e9eb88a45a300fa703fe7c4b8b01ecc55552c0dcb2f51957132b798f3639b0d4c8d7895dae59b6c67a13f8bd234cb7ff3fe001f4a30d5');
INSERT INTO public.instrc_events VALUES (5, 'waits', '\x789c354e4b0a833010bd4a99b5848c4663dcf618a594a00395b68924132d8877efb8e8dbbd2f6f075a29300c90884b0a3441055e385ad7dabeeb34aa0ead75682a48254870f3336749cd9310f2e3f31a03d397f186779529ad94fe8aca4c4bfd78c7f892422cbc1499dee134a59cfd7641382ac834c6306518b4d2ba46d7b8a6760263748fed7988e9b39caf8e1f15dc3667');
INSERT INTO public.instrc_events VALUES (6, 'waits', '\x789c354e4b0ac23010bd8accba84493449edb6c71091d00e58d4a424935628bdbbd385bbf7e76d400b45860e3271cd9146682008d7fe6a7deb1c6ae5b46f2f67d740ae51826b98b8486a1a8550189e7d8a4c5fd637735785f242f9afa8c2349bc73ba5971452e5b9caf4068729e512d69381bd8142438a63810e15a2d168d1591464d13b7dfc61faccc7a9fd07ddea360a');
INSERT INTO public.instrc_events VALUES (7, 'waits', '\x789c3d8ec10ac23010447f45f65cc4a2a6da5bd12ff02a45623b62049334d95845fc773745bcedec9b99dd37e101cb54d39010d9384b0569d165b55d571ba516e55c554a6dd5b2a090ac18476d388acbf4225244d839cb787229bbc8f091eae334ac4edafbe01ea056c8d58d54bf27509efaa02f9c650e4acd1e3acc1a6be9f3116b77c55d4ff4e521d49d6fe858eaa5cd23b041ccb4476762fe5866d874cf779bdfc5820e98426d6e0c189209e8b3e39f12f20574535410');
INSERT INTO public.instrc_events VALUES (8, 'held', '\x789c85503d4fc3400cfd2b96e75011a434242b1b030c0c1d7a113d1a971c499c70e7f0a12aff1d5f2aa10203b7d87e7ed67bf78e486fc48225dad0528d095a1dd2bcc8f2ebf5fa325de57956144596a09f58590d7591e46aedbbaebf1958e8435285f6cdc4ed1f34088d01cbedd2a48fb5b707c14af193e8a6b1022e40cbc33b4318e0607d69f8223ec347c30006473ff4a3182c611b01803439d5ab582ac3f3f785e18d7742b03b93db256003dc3edcdf8144b960c58583a3a02341d837d4db95e16876e9b13ca27c8ea4f686a717da8b6ed4c2485ef4286ecffff22f392671c60ae21d3fe33c6ba2f43a39afa16b3c0babfa8dfe086d9ebf00c80e8cd0');
INSERT INTO public.instrc_events VALUES (9, 'held', '\x789c4d90d14ec3300c457f05f9b99a924293656f13fc054253d498b52275a2c401a4a9ff8e8386c49b8f7d7c1fee0df01389e1049eea17160c308017d6d64df6688cd2076bcda81edd00a591880bc62ead41e618b7e7448cdfacfbdf6f049c6e5019b3be84e2dfb96317c47e415f1ece44b0ef03f092da75e12a77a10db9acf31d5af557ec7f2be5c6174e1f4872b203a4c6ff37a3c873aa924d2d46494901e31f14cc7e2d62bdbe756bcbd1afc477ae38270a02eaa094d293355639e7463da9a7d11c7b078c5bee45ec3f8b685dcc');
INSERT INTO public.instrc_events VALUES (10, 'held', '\x789cab564a2d4bcd2b51b2524a4eccc9494d51d2514a04f20ccd2d4dcd2dcccc0c0cf5cccdcd8c8c2ccd74948a4af380ca325273408a325380ecd4c4e40ce7fcbc92d48a12c368c358bde2d4a2b2d42298885e71496a81517c4e7e7e36c8d4e492ccb2cc924aa0361f8808481ac84351959957500ab2be1600df873055');
INSERT INTO public.instrc_events VALUES (11, 'held', '\x789cab564a2d4bcd2b51b2524a4eccc9494d51d2514a04f20ccd2d4dcd2dcccc0c0cf5cccdcd8c2c8dcc74948a4af380ca325273408a325380ecd4c4e40ce7fcbc92d48a12c368a358bde2d4a2b2d42298885e71496a81517c4e7e7e36c8d4e492ccb2cc924aa0361f8808481ac84351959957500ab4dea81600dfde3057');
INSERT INTO public.instrc_events VALUES (12, 'held', '\x789c354e4b0ac23010bd8accba844c6a338d5b8f2122a51da85893924caa507a779385bbf7e7edc01b7b810b44961c3d4fd0c0503892eba8b756a3222263bbb681987d09cebcd4d0732a988771be062ffc15bce15d258e1bc7bfa292f06a1e4b08af520859d65c9677a86629a7e17342381a483c063f25b868a5356ae35a639d7374c6de5157ff08bfd77aeaf801c49d35e2');
INSERT INTO public.instrc_events VALUES (13, 'held', '\x789c354e4b0ac23010bd8accba8499549ba45b8f2122a51da85893924caa507a779385bbf7e7edc01b7b811e224b8e9e276860289c8cbb18db7548ca18d3129e1b88d997e0cc4b0d3da7827918e76bf0c25fa19bbeabc471e3f85754125ef56309e1550a21cb9acbf20ed52ce5347c4e1a8e06128fc14f097a548884d49235ce396b2db65ad73fc2efb59e3a7ec03235d0');
INSERT INTO public.instrc_events VALUES (14, 'held', '\x789c3d8ecd0ac23010845f45f65cc4a0b6da9be813789522b11969c426313f5591bebb9b22de66f79b99dd0f61808954d32321446d0d15247916d5765d6dca7221e6d566b95c8855413e193676b82b3669c53a05f8bd3511af287817225ca0fa3489d5593ae7ed006a9874f649f56702e2acbcbcc63ce620d71c20fd6c670c8d235bdb0ebd9ce8db81a9bddcd046aee736071f3542a60aad0ef961d630a9cf7777bf8b051d31859adce8f148da4365c73fc5e40bea095374');
INSERT INTO public.instrc_events VALUES (15, 'held', '\x789c1dcb4b0a80201845e1bddc71441ae56316ad24f28784d0f05181b4f7acd9197ca7804e72091ac9ef060d96da4ca841c871ec582bb91c14ef1b84ec2adae847d6d4ce91c2ec5da23bb16f74f1a2005d6068b5d1facf4fc711fc49789e174d7f2053');
INSERT INTO public.instrc_events VALUES (16, 'held', '\x789cab564a2d4bcd2b51b2524a4eccc9494d51d2514a04f20ccd2d4dcd2dcccc0c0cf52c8c4d8c2d2c75948a4af380aa325273406a325380ece2d4a2b2d422e7fcbc92d48a1223bde292d402d3f8e2d43cb021c92599659925954065c1101190344813b2aaccbc825290dd8e050545f965a94ab50032f82d39');
INSERT INTO public.instrc_events VALUES (18, 'held', '\x789c458acb0ec2201045ff65d60d8a86beb67e8819cb559be2d000ad9aa6ff2eacdcdd73eed9082b24514f4f384b1571debae94cd3d6f551abf66c3a5d5158e49f8c36ef88b0225cbc247cd249c584d95c23a40408c107ea379a4629ed9d4787720cde22f322bc66c537872c5f88911fc55bff962c66c74341a50e2f9ea0e66faf0dedfb0fbd7335b8');
INSERT INTO public.instrc_events VALUES (17, 'held', '\x789c1d8d410ec2201045af625893a66069a13b633c87a130c6a6150850b431dedda1bbf9f35ffefb1228e03219c943cf2b584289c6c4062506d9f72d6be459c84e094ae2e6107bc25aa1d9e29d20168857ef327c326f528620ee095c0520461f91b1feed301a6f01d3e674418f9e56384c195ea1ea286e19ef6c2263dbb42deb38539c2ba5062e38631d2561d5a62ebcf4024dd847267120477c4eda2c585c4c9ecb9cf75b158fa7c3fbfb0382d944b2');
SELECT pg_catalog.setval('public.instrc_events_number_seq', 18, true);
SELECT pg_catalog.setval('public.instrc_mail_number_seq', 1, false);
ALTER TABLE ONLY dbos.application_versions
    ADD CONSTRAINT application_versions_pkey PRIMARY KEY (version_id);
ALTER TABLE ONLY dbos.application_versions
    ADD CONSTRAINT application_versions_version_name_key UNIQUE (version_name);
ALTER TABLE ONLY dbos.dbos_migrations
    ADD CONSTRAINT dbos_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY dbos.event_dispatch_kv
    ADD CONSTRAINT event_dispatch_kv_pkey PRIMARY KEY (service_name, workflow_fn_name, key);
ALTER TABLE ONLY dbos.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (message_uuid);
ALTER TABLE ONLY dbos.operation_outputs
    ADD CONSTRAINT operation_outputs_pkey PRIMARY KEY (workflow_uuid, function_id);
ALTER TABLE ONLY dbos.queues
    ADD CONSTRAINT queues_name_key UNIQUE (name);
ALTER TABLE ONLY dbos.queues
    ADD CONSTRAINT queues_pkey PRIMARY KEY (queue_id);
ALTER TABLE ONLY dbos.streams
    ADD CONSTRAINT streams_pkey PRIMARY KEY (workflow_uuid, key, "offset");
ALTER TABLE ONLY dbos.workflow_events_history
    ADD CONSTRAINT workflow_events_history_pkey PRIMARY KEY (workflow_uuid, function_id, key);
ALTER TABLE ONLY dbos.workflow_events
    ADD CONSTRAINT workflow_events_pkey PRIMARY KEY (workflow_uuid, key);
ALTER TABLE ONLY dbos.workflow_input
    ADD CONSTRAINT workflow_input_pkey PRIMARY KEY (workflow_uuid);
ALTER TABLE ONLY dbos.workflow_output
    ADD CONSTRAINT workflow_output_pkey PRIMARY KEY (workflow_uuid);
ALTER TABLE ONLY dbos.workflow_schedules
    ADD CONSTRAINT workflow_schedules_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY dbos.workflow_schedules
    ADD CONSTRAINT workflow_schedules_schedule_name_key UNIQUE (schedule_name);
ALTER TABLE ONLY dbos.workflow_status
    ADD CONSTRAINT workflow_status_pkey PRIMARY KEY (workflow_uuid);
ALTER TABLE ONLY public.instrc_events
    ADD CONSTRAINT instrc_events_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.instrc_mail
    ADD CONSTRAINT instrc_mail_id_key UNIQUE (id);
ALTER TABLE ONLY public.instrc_mail
    ADD CONSTRAINT instrc_mail_pkey PRIMARY KEY (number);
CREATE INDEX idx_application_versions_owner_timestamp ON dbos.application_versions USING btree (application_name, version_timestamp DESC);
CREATE INDEX idx_application_versions_timestamp ON dbos.application_versions USING btree (version_timestamp DESC);
CREATE INDEX idx_operation_outputs_completed_at_function_name_v2 ON dbos.operation_outputs USING btree (completed_at_epoch_ms, function_name) INCLUDE (application_name);
CREATE INDEX idx_operation_outputs_retention ON dbos.operation_outputs USING btree (retention_timestamp);
CREATE INDEX idx_workflow_input_retention ON dbos.workflow_input USING btree (retention_timestamp);
CREATE INDEX idx_workflow_output_retention ON dbos.workflow_output USING btree (retention_timestamp);
CREATE INDEX idx_workflow_status_attributes ON dbos.workflow_status USING gin (attributes) WHERE (attributes IS NOT NULL);
CREATE INDEX idx_workflow_status_completed_at ON dbos.workflow_status USING btree (completed_at) WHERE (completed_at IS NOT NULL);
CREATE INDEX idx_workflow_status_deadline ON dbos.workflow_status USING btree (workflow_deadline_epoch_ms) WHERE ((status = ANY (ARRAY['ENQUEUED'::text, 'PENDING'::text, 'DELAYED'::text])) AND (workflow_deadline_epoch_ms IS NOT NULL));
CREATE INDEX idx_workflow_status_delayed ON dbos.workflow_status USING btree (delay_until_epoch_ms) WHERE (status = 'DELAYED'::text);
CREATE INDEX idx_workflow_status_failed ON dbos.workflow_status USING btree (status, created_at) WHERE (status = ANY (ARRAY['ERROR'::text, 'CANCELLED'::text, 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'::text]));
CREATE INDEX idx_workflow_status_forked_from ON dbos.workflow_status USING btree (forked_from) WHERE (forked_from IS NOT NULL);
CREATE INDEX idx_workflow_status_in_flight_v2 ON dbos.workflow_status USING btree (queue_name, status, priority, created_at) INCLUDE (application_name) WHERE (status = ANY (ARRAY['ENQUEUED'::text, 'PENDING'::text]));
CREATE INDEX idx_workflow_status_parent_workflow_id ON dbos.workflow_status USING btree (parent_workflow_id) WHERE (parent_workflow_id IS NOT NULL);
CREATE INDEX idx_workflow_status_partition_dequeue_v3 ON dbos.workflow_status USING btree (queue_name, status, queue_partition_key, priority, created_at, workflow_uuid) INCLUDE (application_name) WHERE ((status = ANY (ARRAY['ENQUEUED'::text, 'PENDING'::text])) AND (queue_partition_key IS NOT NULL));
CREATE INDEX idx_workflow_status_pending ON dbos.workflow_status USING btree (created_at) WHERE (status = 'PENDING'::text);
CREATE INDEX idx_workflow_status_rate_limited ON dbos.workflow_status USING btree (queue_name, started_at_epoch_ms) WHERE (rate_limited = true);
CREATE INDEX idx_workflow_status_schedule_name ON dbos.workflow_status USING btree (schedule_name) WHERE (schedule_name IS NOT NULL);
CREATE INDEX idx_workflow_status_started_at ON dbos.workflow_status USING btree (started_at_epoch_ms) WHERE (started_at_epoch_ms IS NOT NULL);
CREATE INDEX idx_workflow_topic ON dbos.notifications USING btree (destination_uuid, topic);
CREATE UNIQUE INDEX uq_application_versions_owner_version ON dbos.application_versions USING btree (application_name, version_name) WHERE (application_name IS NOT NULL);
CREATE UNIQUE INDEX uq_application_versions_unclaimed_version ON dbos.application_versions USING btree (version_name) WHERE (application_name IS NULL);
CREATE UNIQUE INDEX uq_workflow_status_dedup_id ON dbos.workflow_status USING btree (queue_name, deduplication_id) WHERE (deduplication_id IS NOT NULL);
CREATE INDEX workflow_status_created_at_index ON dbos.workflow_status USING btree (created_at);
CREATE INDEX ix_instrc_events_run ON public.instrc_events USING btree (run);
CREATE INDEX ix_instrc_mail_verdict ON public.instrc_mail USING btree (verdict);
CREATE TRIGGER dbos_notifications_trigger AFTER INSERT ON dbos.notifications FOR EACH ROW EXECUTE FUNCTION dbos.notifications_function();
ALTER TABLE ONLY dbos.notifications
    ADD CONSTRAINT notifications_destination_uuid_fkey FOREIGN KEY (destination_uuid) REFERENCES dbos.workflow_status(workflow_uuid) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY dbos.streams
    ADD CONSTRAINT streams_workflow_uuid_fkey FOREIGN KEY (workflow_uuid) REFERENCES dbos.workflow_status(workflow_uuid) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY dbos.workflow_events_history
    ADD CONSTRAINT workflow_events_history_workflow_uuid_fkey FOREIGN KEY (workflow_uuid) REFERENCES dbos.workflow_status(workflow_uuid) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY dbos.workflow_events
    ADD CONSTRAINT workflow_events_workflow_uuid_fkey FOREIGN KEY (workflow_uuid) REFERENCES dbos.workflow_status(workflow_uuid) ON UPDATE CASCADE ON DELETE CASCADE;
