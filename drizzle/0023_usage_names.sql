CREATE TABLE `usage_names` (
	`organization_id` text NOT NULL,
	`level` text NOT NULL,
	`width` text NOT NULL,
	`start` integer NOT NULL,
	`key_id` text NOT NULL,
	`api` text NOT NULL,
	`model` text NOT NULL,
	`provider` text NOT NULL,
	`project_id` text,
	`in_project` integer DEFAULT 0 NOT NULL,
	`requests` integer NOT NULL,
	`failed` integer NOT NULL,
	`client_errors` integer NOT NULL,
	`server_errors` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`completion_tokens` integer NOT NULL,
	`cached_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`priced` integer NOT NULL,
	`unpriced` integer NOT NULL,
	`cost` integer NOT NULL,
	`latencies` text NOT NULL,
	`first_tokens` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`organization_id`, `level`, `width`, `start`, `key_id`, `api`, `model`, `provider`, `value`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `usage_rollup` ADD `named_from` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `usage_rollup` SET `named_from` = `until`;