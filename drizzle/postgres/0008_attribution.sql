ALTER TABLE "usage" ADD COLUMN "project_id" text;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "session" text;