ALTER TABLE `usage` ADD `project_id` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `session` text;