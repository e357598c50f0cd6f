ALTER TABLE `organizations` ADD `deletion` text CONSTRAINT "organizations_deletion" CHECK("deletion" in ('begun', 'done'));--> statement-breakpoint
CREATE INDEX `organizations_to_delete` ON `organizations` (`id`) WHERE "organizations"."deletion" = 'begun';
