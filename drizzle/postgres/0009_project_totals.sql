ALTER TABLE "usage_totals" ADD COLUMN "project_id" text;--> statement-breakpoint
ALTER TABLE "usage_totals" ADD COLUMN "in_project" bigint DEFAULT 0 NOT NULL;