CREATE TABLE `__new_usage` (
	`id` text NOT NULL,
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
	PRIMARY KEY(`created_at`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_usage` (`id`, `organization_id`, `key_id`, `created_at`, `api`, `model`, `provider`, `upstream_model`, `stream`, `prompt_tokens`, `completion_tokens`, `cached_tokens`, `cache_write_tokens`, `reasoning_tokens`, `estimated`, `cost`, `latency_ms`, `first_token_ms`, `status`, `error`, `performance_mode`, `user`, `tags`, `trace`) SELECT `id`, `organization_id`, `key_id`, `created_at`, `api`, `model`, `provider`, `upstream_model`, `stream`, `prompt_tokens`, `completion_tokens`, `cached_tokens`, `cache_write_tokens`, `reasoning_tokens`, `estimated`, `cost`, `latency_ms`, `first_token_ms`, `status`, `error`, `performance_mode`, `user`, `tags`, `trace` FROM `usage` ORDER BY `created_at`, `id`;
--> statement-breakpoint
DROP TABLE `usage`;
--> statement-breakpoint
ALTER TABLE `__new_usage` RENAME TO `usage`;
--> statement-breakpoint
CREATE TABLE `__new_ledger` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`request_id` text,
	`note` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "ledger_amount" CHECK(("kind" = 'credit' and "amount" <> 0) or ("kind" = 'charge' and "amount" < 0) or ("kind" = 'write_off' and "amount" > 0))
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_ledger` SELECT * FROM `ledger` ORDER BY `id`;
--> statement-breakpoint
DROP TABLE `ledger`;
--> statement-breakpoint
ALTER TABLE `__new_ledger` RENAME TO `ledger`;
--> statement-breakpoint
CREATE TABLE `__new_reservations` (
	`request_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`amount` integer NOT NULL,
	`prompt_cost` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`request` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_reservations` SELECT * FROM `reservations` ORDER BY `request_id`;
--> statement-breakpoint
DROP TABLE `reservations`;
--> statement-breakpoint
ALTER TABLE `__new_reservations` RENAME TO `reservations`;
