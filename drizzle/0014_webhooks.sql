CREATE TABLE `provider_outages` (
	`provider` text PRIMARY KEY NOT NULL,
	`since` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`event_id` text NOT NULL,
	`endpoint` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer NOT NULL,
	`attempted_at` integer,
	`response_status` integer,
	`error` text,
	PRIMARY KEY(`event_id`, `endpoint`),
	FOREIGN KEY (`event_id`) REFERENCES `webhook_events`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`endpoint`,`next_at`) WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_status` ON `webhook_deliveries` (`status`,`event_id`);--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text,
	`type` text NOT NULL,
	`created_at` integer NOT NULL,
	`data` text NOT NULL,
	`routed` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_events_to_route` ON `webhook_events` (`id`) WHERE not "webhook_events"."routed";--> statement-breakpoint
CREATE INDEX `webhook_events_of_organization` ON `webhook_events` (`organization_id`) WHERE "webhook_events"."organization_id" is not null;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `expiry_notified` integer;--> statement-breakpoint
ALTER TABLE `budgets` ADD `notified` integer DEFAULT 0 NOT NULL;