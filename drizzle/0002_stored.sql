CREATE TABLE `completions` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`organization_id` text NOT NULL,
	`model` text NOT NULL,
	`metadata` text NOT NULL,
	`completion` text NOT NULL,
	`messages` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `completions_id_unique` ON `completions` (`id`);--> statement-breakpoint
CREATE INDEX `completions_of_organization` ON `completions` (`organization_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `completions_of_model` ON `completions` (`organization_id`,`model`,`sequence`);--> statement-breakpoint
CREATE TABLE `response_log` (
	`response_id` text NOT NULL,
	`position` integer NOT NULL,
	`entries` text NOT NULL,
	PRIMARY KEY(`response_id`, `position`),
	FOREIGN KEY (`response_id`) REFERENCES `responses`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `responses` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`previous_id` text,
	`status` text NOT NULL,
	`deletion` text,
	`head` text NOT NULL,
	`run` text,
	`log` text NOT NULL,
	`input` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "responses_run" CHECK(("responses"."status" in ('queued', 'in_progress')) = ("responses"."run" is not null))
);
--> statement-breakpoint
CREATE INDEX `responses_that_follow` ON `responses` (`organization_id`,`previous_id`);--> statement-breakpoint
CREATE INDEX `responses_in_sight` ON `responses` (`id`) WHERE "responses"."deletion" is null and "responses"."status" in ('completed', 'failed', 'incomplete');--> statement-breakpoint
CREATE INDEX `responses_to_erase` ON `responses` (`id`) WHERE "responses"."deletion" = 'due';--> statement-breakpoint
CREATE INDEX `responses_unfinished` ON `responses` (`id`) WHERE "responses"."status" in ('queued', 'in_progress');--> statement-breakpoint
CREATE VIRTUAL TABLE `completion_terms` USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');--> statement-breakpoint
CREATE TRIGGER `completions_deleted` AFTER DELETE ON `completions` BEGIN DELETE FROM `completion_terms` WHERE rowid = old.sequence; END;
