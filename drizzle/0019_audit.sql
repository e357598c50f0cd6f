CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`event` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text,
	`actor_name` text,
	`source` text NOT NULL,
	`address` text,
	`forwarded_for` text,
	`object_type` text NOT NULL,
	`object_id` text,
	`object_name` text,
	`organization_id` text,
	`organization_name` text,
	`project_id` text,
	`before` text,
	`after` text
);
--> statement-breakpoint
CREATE INDEX `audit_entries_of_organization` ON `audit_entries` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_entries_of_object` ON `audit_entries` (`object_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_entries_of_object_name` ON `audit_entries` (`object_name`,`id`);