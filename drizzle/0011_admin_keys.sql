CREATE TABLE `admin_keys` (
	`public_id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`secret_hash` blob NOT NULL,
	`last4` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer
);
