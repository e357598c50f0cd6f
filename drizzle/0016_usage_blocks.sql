CREATE TABLE `usage_blocks` (
	`property` integer NOT NULL,
	`until` integer NOT NULL,
	PRIMARY KEY(`property`, `until`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `usage_blocks_by_end` ON `usage_blocks` (`until`);--> statement-breakpoint
ALTER TABLE `usage` ADD `details` text;