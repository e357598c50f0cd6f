CREATE TABLE `__new_ledger` (
	`id` text NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`request_id` text,
	`note` text,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "ledger_amount" CHECK(("kind" = 'credit' and "amount" <> 0) or ("kind" = 'charge' and "amount" < 0))
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_ledger` (`id`, `organization_id`, `created_at`, `kind`, `amount`, `request_id`, `note`) SELECT CASE WHEN `id` LIKE 'led_000000000000%' THEN 'led_' || printf('%012x', `created_at`) || substr(`id`, 17) ELSE `id` END, `organization_id`, `created_at`, `kind`, `amount`, `request_id`, `note` FROM `ledger` ORDER BY `organization_id`, `id`;
--> statement-breakpoint
DROP TABLE `ledger`;
--> statement-breakpoint
ALTER TABLE `__new_ledger` RENAME TO `ledger`;
--> statement-breakpoint
CREATE INDEX `ledger_credits` ON `ledger` (`organization_id`,`id`) WHERE "ledger"."kind" = 'credit';
