CREATE TABLE "usage_names" (
	"organization_id" text COLLATE "C" NOT NULL,
	"level" text COLLATE "C" NOT NULL,
	"width" text COLLATE "C" NOT NULL,
	"start" bigint NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"api" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"project_id" text,
	"in_project" bigint DEFAULT 0 NOT NULL,
	"requests" bigint DEFAULT 0 NOT NULL,
	"failed" bigint DEFAULT 0 NOT NULL,
	"client_errors" bigint DEFAULT 0 NOT NULL,
	"server_errors" bigint DEFAULT 0 NOT NULL,
	"prompt_tokens" bigint DEFAULT 0 NOT NULL,
	"completion_tokens" bigint DEFAULT 0 NOT NULL,
	"cached_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_write_tokens" bigint DEFAULT 0 NOT NULL,
	"reasoning_tokens" bigint DEFAULT 0 NOT NULL,
	"priced" bigint DEFAULT 0 NOT NULL,
	"unpriced" bigint DEFAULT 0 NOT NULL,
	"cost" numeric DEFAULT '0' NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"latency_times" integer[] DEFAULT '{}' NOT NULL,
	"latency_counts" integer[] DEFAULT '{}' NOT NULL,
	"first_token_times" integer[] DEFAULT '{}' NOT NULL,
	"first_token_counts" integer[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
ALTER TABLE "usage_rollup" ADD COLUMN "named_from" bigint DEFAULT 8640000000000000 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "usage_names_key" ON "usage_names" USING btree ("organization_id","level","width","start","api","model","provider",md5(value));--> statement-breakpoint
CREATE INDEX "usage_names_by_start" ON "usage_names" USING btree ("level","width","start");