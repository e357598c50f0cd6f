CREATE TABLE `ledger` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`request_id` text,
	`note` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "ledger_amount" CHECK(("ledger"."kind" = 'credit' and "ledger"."amount" <> 0) or ("ledger"."kind" = 'charge' and "ledger"."amount" < 0) or ("ledger"."kind" = 'write_off' and "ledger"."amount" > 0))
);
--> statement-breakpoint
CREATE TABLE `reservations` (
	`request_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`amount` integer NOT NULL,
	`prompt_cost` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`request` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `usage` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`key_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`api` text NOT NULL,
	`model` text,
	`provider` text,
	`upstream_model` text,
	`stream` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`completion_tokens` integer NOT NULL,
	`cached_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`estimated` integer NOT NULL,
	`cost` integer,
	`latency_ms` integer,
	`first_token_ms` integer,
	`status` integer NOT NULL,
	`error` text,
	`performance_mode` text,
	`user` text,
	`tags` text,
	`trace` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `usage_by_time` ON `usage` (`created_at`);--> statement-breakpoint
ALTER TABLE `organizations` ADD `reserved` integer DEFAULT 0 NOT NULL CONSTRAINT "organizations_reserved" CHECK("reserved" between 0 and "balance");--> statement-breakpoint
INSERT INTO `ledger` (`organization_id`, `id`, `created_at`, `kind`, `amount`, `note`) SELECT `id`, 'led_000000000000' || lower(hex(randomblob(10))), `created_at`, 'credit', `balance`, 'balance before the ledger' FROM `organizations` WHERE `balance` > 0;
