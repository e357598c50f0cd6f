DROP TABLE `processes`;--> statement-breakpoint
DROP TABLE `rate_limit_buckets`;--> statement-breakpoint
DROP TABLE `response_erasures`;--> statement-breakpoint
DROP TABLE `slot_leases`;