ALTER TABLE `usage_rollup` ADD `all_named_from` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `usage_rollup` SET `all_named_from` = `until`;