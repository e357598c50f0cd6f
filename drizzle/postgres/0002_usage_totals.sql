CREATE TABLE "usage_late" (
	"created_at" bigint NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	CONSTRAINT "usage_late_created_at_id_pk" PRIMARY KEY("created_at","id")
);
--> statement-breakpoint
CREATE TABLE "usage_rollup" (
	"id" integer PRIMARY KEY NOT NULL,
	"until" bigint NOT NULL,
	"fence" bigint NOT NULL,
	CONSTRAINT "usage_rollup_one_row" CHECK ("usage_rollup"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "usage_totals" (
	"organization_id" text COLLATE "C" NOT NULL,
	"width" text COLLATE "C" NOT NULL,
	"start" bigint NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"api" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
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
	CONSTRAINT "usage_totals_key" PRIMARY KEY("organization_id","width","start","key_id","api","model","provider")
);
--> statement-breakpoint
INSERT INTO "usage_rollup" ("id", "until", "fence") VALUES (1, 0, 0);
