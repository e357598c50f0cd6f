CREATE TABLE "provider_outages" (
	"provider" text PRIMARY KEY NOT NULL,
	"since" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"event_id" text NOT NULL,
	"endpoint" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" bigint DEFAULT 0 NOT NULL,
	"next_at" bigint NOT NULL,
	"attempted_at" bigint,
	"response_status" bigint,
	"error" text,
	CONSTRAINT "webhook_deliveries_key" PRIMARY KEY("event_id","endpoint")
);
--> statement-breakpoint
CREATE TABLE "webhook_events" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text,
	"type" text NOT NULL,
	"created_at" bigint NOT NULL,
	"data" text NOT NULL,
	"routed" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "expiry_notified" bigint;--> statement-breakpoint
ALTER TABLE "budgets" ADD COLUMN "notified" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_event_id_webhook_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."webhook_events"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("endpoint","next_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_status" ON "webhook_deliveries" USING btree ("status","event_id");--> statement-breakpoint
CREATE INDEX "webhook_events_to_route" ON "webhook_events" USING btree ("id") WHERE not "webhook_events"."routed";--> statement-breakpoint
CREATE INDEX "webhook_events_of_organization" ON "webhook_events" USING btree ("organization_id") WHERE "webhook_events"."organization_id" is not null;