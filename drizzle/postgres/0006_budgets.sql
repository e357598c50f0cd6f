CREATE TABLE "budgets" (
	"owner_id" text NOT NULL,
	"start" bigint NOT NULL,
	"organization_id" text NOT NULL,
	"spent" bigint DEFAULT 0 NOT NULL,
	"reserved" bigint DEFAULT 0 NOT NULL,
	"held" bigint DEFAULT 0 NOT NULL,
	"allocated" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "budgets_key" PRIMARY KEY("owner_id","start"),
	CONSTRAINT "budgets_reserved" CHECK ("budgets"."reserved" >= 0)
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"budget" bigint,
	"budget_period" text DEFAULT 'none' NOT NULL,
	"budget_time_zone" text DEFAULT 'UTC' NOT NULL,
	"requests_per_minute" bigint,
	"tokens_per_minute" bigint,
	"concurrent_requests" bigint,
	"models" text,
	"enabled" boolean DEFAULT true NOT NULL,
	"created_at" bigint NOT NULL,
	"deleted_at" bigint
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "project_id" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "parent_id" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "allocated_in" bigint;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "limits_id" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "budget" bigint;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "budget_period" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "budget_time_zone" text DEFAULT 'UTC' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "requests_per_minute" bigint;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "tokens_per_minute" bigint;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "concurrent_requests" bigint;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "models" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "enabled" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "permissions" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "tags" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "budget" bigint;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "budget_period" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "budget_time_zone" text DEFAULT 'UTC' NOT NULL;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "models" text;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "enabled" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "reservations" ADD COLUMN "prepaid" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "reservations" ADD COLUMN "budgets" text;--> statement-breakpoint
CREATE INDEX "budgets_of_organization" ON "budgets" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "projects_of_organization" ON "projects" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "api_keys_of_parent" ON "api_keys" USING btree ("parent_id") WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX "api_keys_allocated" ON "api_keys" USING btree ("public_id") WHERE allocated_in is not null;