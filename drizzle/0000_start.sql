CREATE TABLE `api_keys` (
	`public_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`secret_hash` blob NOT NULL,
	`last4` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`replaced_by` text
);
--> statement-breakpoint
CREATE INDEX `api_keys_of_organization` ON `api_keys` (`organization_id`);--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`billing` text DEFAULT 'unmetered' NOT NULL,
	`balance` integer DEFAULT 0 NOT NULL,
	`requests_per_minute` integer,
	`tokens_per_minute` integer,
	`concurrent_requests` integer,
	`created_at` integer NOT NULL,
	CONSTRAINT "organizations_billing" CHECK("organizations"."billing" in ('unmetered', 'prepaid', 'none')),
	CONSTRAINT "organizations_balance" CHECK("organizations"."balance" between 0 and 9007199254740991)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_name_unique` ON `organizations` (`name`);--> statement-breakpoint
CREATE TABLE `provider_state` (
	`organization_id` text NOT NULL,
	`call_id` text NOT NULL,
	`provider` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `call_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `provider_state_by_expiry` ON `provider_state` (`expires_at`);