CREATE TABLE "usage_sums" (
	"organization_id" text COLLATE "C" NOT NULL,
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
	"latency_times" integer[] DEFAULT '{}' NOT NULL,
	"latency_counts" integer[] DEFAULT '{}' NOT NULL,
	"first_token_times" integer[] DEFAULT '{}' NOT NULL,
	"first_token_counts" integer[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "usage_sums_key" PRIMARY KEY("organization_id","width","start","key_id","api","model","provider")
);
--> statement-breakpoint
ALTER TABLE "processes" ADD COLUMN "schema" integer;--> statement-breakpoint
ALTER TABLE "usage_rollup" ADD COLUMN "summed_from" bigint DEFAULT 8640000000000000 NOT NULL;--> statement-breakpoint
CREATE INDEX "usage_sums_by_start" ON "usage_sums" USING btree ("width","start");