CREATE TABLE `budgets` (
	`owner_id` text NOT NULL,
	`start` integer NOT NULL,
	`organization_id` text NOT NULL,
	`spent` integer DEFAULT 0 NOT NULL,
	`reserved` integer DEFAULT 0 NOT NULL,
	`held` integer DEFAULT 0 NOT NULL,
	`allocated` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`owner_id`, `start`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "budgets_reserved" CHECK("budgets"."reserved" >= 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `budgets_of_organization` ON `budgets` (`organization_id`);--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`budget` integer,
	`budget_period` text DEFAULT 'none' NOT NULL,
	`budget_time_zone` text DEFAULT 'UTC' NOT NULL,
	`requests_per_minute` integer,
	`tokens_per_minute` integer,
	`concurrent_requests` integer,
	`models` text,
	`enabled` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `projects_of_organization` ON `projects` (`organization_id`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `project_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `parent_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `allocated_in` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `limits_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `budget` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `budget_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `budget_time_zone` text DEFAULT 'UTC' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `requests_per_minute` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `tokens_per_minute` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `concurrent_requests` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `models` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `enabled` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `permissions` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `note` text;--> statement-breakpoint
CREATE INDEX `api_keys_of_parent` ON `api_keys` (`parent_id`) WHERE "api_keys"."parent_id" is not null;--> statement-breakpoint
CREATE INDEX `api_keys_allocated` ON `api_keys` (`public_id`) WHERE "api_keys"."allocated_in" is not null;--> statement-breakpoint
ALTER TABLE `organizations` ADD `budget` integer;--> statement-breakpoint
ALTER TABLE `organizations` ADD `budget_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `organizations` ADD `budget_time_zone` text DEFAULT 'UTC' NOT NULL;--> statement-breakpoint
ALTER TABLE `organizations` ADD `models` text;--> statement-breakpoint
ALTER TABLE `organizations` ADD `enabled` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `reservations` ADD `prepaid` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `reservations` ADD `budgets` text;