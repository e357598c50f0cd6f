CREATE TABLE `content_log` (
	`created_at` integer NOT NULL,
	`request_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`created_at`, `request_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `content_log_of_organization` ON `content_log` (`organization_id`,`request_id`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `content_log` integer DEFAULT false NOT NULL;