CREATE TABLE `usage_rollup` (
	`id` integer PRIMARY KEY NOT NULL,
	`until` integer NOT NULL,
	CONSTRAINT "usage_rollup_one_row" CHECK("usage_rollup"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE `usage_totals` (
	`organization_id` text NOT NULL,
	`width` text NOT NULL,
	`start` integer NOT NULL,
	`key_id` text NOT NULL,
	`api` text NOT NULL,
	`model` text NOT NULL,
	`provider` text NOT NULL,
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
	PRIMARY KEY(`organization_id`, `width`, `start`, `key_id`, `api`, `model`, `provider`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `usage_rollup` (`id`, `until`) VALUES (1, 0);
--> statement-breakpoint
CREATE INDEX `responses_of_organization` ON `responses` (`organization_id`,`id`) WHERE "responses"."deletion" is null;