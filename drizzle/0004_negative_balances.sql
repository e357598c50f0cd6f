CREATE TABLE `__new_ledger` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`request_id` text,
	`note` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "ledger_amount" CHECK(("kind" = 'credit' and "amount" <> 0) or ("kind" = 'charge' and "amount" < 0))
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_ledger` (`id`, `organization_id`, `created_at`, `kind`, `amount`, `request_id`, `note`) SELECT `entry`.`id`, `entry`.`organization_id`, `entry`.`created_at`, `entry`.`kind`, `entry`.`amount` + coalesce(`lost`.`amount`, 0), `entry`.`request_id`, `entry`.`note` FROM `ledger` `entry` LEFT JOIN (SELECT `organization_id`, `request_id`, sum(`amount`) AS `amount` FROM `ledger` WHERE `kind` = 'write_off' AND `request_id` IS NOT NULL GROUP BY `organization_id`, `request_id`) `lost` ON `entry`.`kind` = 'charge' AND `lost`.`organization_id` = `entry`.`organization_id` AND `lost`.`request_id` = `entry`.`request_id` WHERE `entry`.`kind` <> 'write_off' AND `entry`.`amount` + coalesce(`lost`.`amount`, 0) <> 0 ORDER BY `entry`.`id`;
--> statement-breakpoint
INSERT INTO `__new_ledger` (`id`, `organization_id`, `created_at`, `kind`, `amount`, `request_id`, `note`) SELECT `id`, `organization_id`, `created_at`, 'credit', `amount`, `request_id`, 'written off' FROM `ledger` WHERE `kind` = 'write_off' AND (`request_id` IS NULL OR `request_id` NOT IN (SELECT `request_id` FROM `ledger` WHERE `kind` = 'charge' AND `request_id` IS NOT NULL)) ORDER BY `id`;
--> statement-breakpoint
DROP TABLE `ledger`;
--> statement-breakpoint
ALTER TABLE `__new_ledger` RENAME TO `ledger`;
--> statement-breakpoint
CREATE TABLE `__new_organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`billing` text DEFAULT 'unmetered' NOT NULL,
	`balance` integer DEFAULT 0 NOT NULL,
	`reserved` integer DEFAULT 0 NOT NULL,
	`requests_per_minute` integer,
	`tokens_per_minute` integer,
	`concurrent_requests` integer,
	`created_at` integer NOT NULL,
	CONSTRAINT "organizations_billing" CHECK("billing" in ('unmetered', 'prepaid', 'none')),
	CONSTRAINT "organizations_balance" CHECK("balance" between -9007199254740991 and 9007199254740991),
	CONSTRAINT "organizations_reserved" CHECK("reserved" >= 0)
);
--> statement-breakpoint
INSERT INTO `__new_organizations` (`id`, `name`, `billing`, `balance`, `reserved`, `requests_per_minute`, `tokens_per_minute`, `concurrent_requests`, `created_at`) SELECT `id`, `name`, `billing`, `balance`, `reserved`, `requests_per_minute`, `tokens_per_minute`, `concurrent_requests`, `created_at` FROM `organizations`;
--> statement-breakpoint
DROP TABLE `organizations`;
--> statement-breakpoint
ALTER TABLE `__new_organizations` RENAME TO `organizations`;
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_name_unique` ON `organizations` (`name`);
