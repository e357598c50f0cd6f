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
	`resource_type` text NOT NULL,
	`resource_id` text,
	`resource_name` text,
	`organization_id` text,
	`organization_name` text,
	`project_id` text,
	`before` text,
	`after` text
);
--> statement-breakpoint
CREATE INDEX `audit_entries_of_organization` ON `audit_entries` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_entries_of_resource` ON `audit_entries` (`resource_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_entries_of_resource_name` ON `audit_entries` (`resource_name`,`id`);