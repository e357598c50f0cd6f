CREATE TABLE "content_log" (
	"created_at" bigint NOT NULL,
	"request_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"content" text NOT NULL,
	CONSTRAINT "content_log_key" PRIMARY KEY("created_at","request_id")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "content_log" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "content_log_of_organization" ON "content_log" USING btree ("organization_id","request_id");