CREATE TABLE `processes` (
	`id` text PRIMARY KEY NOT NULL,
	`beat` integer NOT NULL,
	`started_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `rate_limit_buckets` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`limit` integer NOT NULL,
	`spent` integer NOT NULL,
	`refilled_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `response_erasures` (
	`response_id` text PRIMARY KEY NOT NULL,
	`not_before` integer NOT NULL,
	FOREIGN KEY (`response_id`) REFERENCES `responses`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`response_id` text PRIMARY KEY NOT NULL,
	`process_id` text NOT NULL,
	`request_id` text NOT NULL,
	`cancel_requested` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`response_id`) REFERENCES `responses`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `runs_of_process` ON `runs` (`process_id`);--> statement-breakpoint
CREATE INDEX `runs_of_request` ON `runs` (`request_id`);--> statement-breakpoint
CREATE TABLE `slot_leases` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`process_id` text NOT NULL,
	`held` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`, `process_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `slot_leases_of_process` ON `slot_leases` (`process_id`);--> statement-breakpoint
ALTER TABLE `reservations` ADD `process_id` text;