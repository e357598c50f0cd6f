CREATE TABLE "api_keys" (
	"public_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"organization_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"secret_hash" bytea NOT NULL,
	"last4" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "api_keys_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"expires_at" bigint,
	"revoked_at" bigint,
	"replaced_by" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "completions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"organization_id" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"metadata" text COLLATE "C" NOT NULL,
	"terms" uuid[] NOT NULL,
	"completion" text COLLATE "C" NOT NULL,
	"messages" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"organization_id" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"request_id" text COLLATE "C",
	"note" text COLLATE "C",
	CONSTRAINT "ledger_amount" CHECK (("ledger"."kind" = 'credit' and "ledger"."amount" <> 0) or ("ledger"."kind" = 'charge' and "ledger"."amount" < 0))
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"billing" text COLLATE "C" DEFAULT 'unmetered' NOT NULL,
	"balance" bigint DEFAULT 0 NOT NULL,
	"reserved" bigint DEFAULT 0 NOT NULL,
	"requests_per_minute" bigint,
	"tokens_per_minute" bigint,
	"concurrent_requests" bigint,
	"created_at" bigint NOT NULL,
	"deletion" text COLLATE "C",
	CONSTRAINT "organizations_name_unique" UNIQUE("name"),
	CONSTRAINT "organizations_deletion" CHECK ("organizations"."deletion" in ('begun', 'done')),
	CONSTRAINT "organizations_billing" CHECK ("organizations"."billing" in ('unmetered', 'prepaid', 'none')),
	CONSTRAINT "organizations_balance" CHECK ("organizations"."balance" between -9007199254740991 and 9007199254740991),
	CONSTRAINT "organizations_reserved" CHECK ("organizations"."reserved" >= 0)
);
--> statement-breakpoint
CREATE TABLE "provider_state" (
	"organization_id" text COLLATE "C" NOT NULL,
	"call_id" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "provider_state_organization_id_call_id_pk" PRIMARY KEY("organization_id","call_id")
);
--> statement-breakpoint
CREATE TABLE "reservations" (
	"request_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"organization_id" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"prompt_cost" bigint NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"request" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "response_log" (
	"response_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"entries" text COLLATE "C" NOT NULL,
	CONSTRAINT "response_log_response_id_position_pk" PRIMARY KEY("response_id","position")
);
--> statement-breakpoint
CREATE TABLE "responses" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"organization_id" text COLLATE "C" NOT NULL,
	"previous_id" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"deletion" text COLLATE "C",
	"head" text COLLATE "C" NOT NULL,
	"run" text COLLATE "C",
	"log" text COLLATE "C" NOT NULL,
	"input" text COLLATE "C" NOT NULL,
	CONSTRAINT "responses_run" CHECK (("responses"."status" in ('queued', 'in_progress')) = ("responses"."run" is not null))
);
--> statement-breakpoint
CREATE TABLE "transactions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"results" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage" (
	"id" text COLLATE "C" NOT NULL,
	"organization_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"api" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C",
	"provider" text COLLATE "C",
	"upstream_model" text COLLATE "C",
	"stream" boolean NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"cache_write_tokens" bigint NOT NULL,
	"reasoning_tokens" bigint NOT NULL,
	"estimated" boolean NOT NULL,
	"cost" bigint,
	"latency_ms" bigint,
	"first_token_ms" bigint,
	"status" integer NOT NULL,
	"error" text COLLATE "C",
	"performance_mode" text COLLATE "C",
	"user" text COLLATE "C",
	"tags" text COLLATE "C",
	"trace" text COLLATE "C",
	CONSTRAINT "usage_created_at_id_pk" PRIMARY KEY("created_at","id")
);
--> statement-breakpoint
ALTER TABLE "response_log" ADD CONSTRAINT "response_log_response_id_responses_id_fk" FOREIGN KEY ("response_id") REFERENCES "public"."responses"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_of_organization" ON "api_keys" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "completions_by_age" ON "completions" USING btree ("sequence","id");--> statement-breakpoint
CREATE INDEX "completions_of_organization" ON "completions" USING btree ("organization_id","sequence","id");--> statement-breakpoint
CREATE INDEX "completions_of_model" ON "completions" USING btree ("organization_id","model","sequence","id");--> statement-breakpoint
CREATE INDEX "completions_by_term" ON "completions" USING gin ("terms") WITH (fastupdate=off);--> statement-breakpoint
CREATE INDEX "organizations_to_delete" ON "organizations" USING btree ("id") WHERE "organizations"."deletion" = 'begun';--> statement-breakpoint
CREATE INDEX "provider_state_by_expiry" ON "provider_state" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "responses_of_organization" ON "responses" USING btree ("organization_id","id") WHERE "responses"."deletion" is null;--> statement-breakpoint
CREATE INDEX "responses_that_follow" ON "responses" USING btree ("organization_id","previous_id");--> statement-breakpoint
CREATE INDEX "responses_in_sight" ON "responses" USING btree ("id") WHERE "responses"."deletion" is null and "responses"."status" in ('completed', 'failed', 'incomplete');--> statement-breakpoint
CREATE INDEX "responses_to_erase" ON "responses" USING btree ("id") WHERE "responses"."deletion" = 'due';--> statement-breakpoint
CREATE INDEX "responses_unfinished" ON "responses" USING btree ("id") WHERE "responses"."status" in ('queued', 'in_progress');--> statement-breakpoint
CREATE INDEX "transactions_by_age" ON "transactions" USING btree ("created_at");