ALTER TABLE `usage_totals` ADD `project_id` text;--> statement-breakpoint
ALTER TABLE `usage_totals` ADD `in_project` integer DEFAULT 0 NOT NULL;