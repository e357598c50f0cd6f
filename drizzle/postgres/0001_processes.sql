CREATE TABLE "processes" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"beat" bigint NOT NULL,
	"started_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_limit_buckets" (
	"organization_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"limit" bigint NOT NULL,
	"spent" bigint NOT NULL,
	"refilled_at" bigint NOT NULL,
	CONSTRAINT "rate_limit_buckets_organization_id_kind_pk" PRIMARY KEY("organization_id","kind")
);
--> statement-breakpoint
CREATE TABLE "response_erasures" (
	"response_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"not_before" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"response_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"process_id" text COLLATE "C" NOT NULL,
	"request_id" text COLLATE "C" NOT NULL,
	"cancel_requested" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "slot_leases" (
	"organization_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"process_id" text COLLATE "C" NOT NULL,
	"held" bigint NOT NULL,
	CONSTRAINT "slot_leases_organization_id_kind_process_id_pk" PRIMARY KEY("organization_id","kind","process_id")
);
--> statement-breakpoint
ALTER TABLE "reservations" ADD COLUMN "process_id" text;--> statement-breakpoint
ALTER TABLE "response_erasures" ADD CONSTRAINT "response_erasures_response_id_responses_id_fk" FOREIGN KEY ("response_id") REFERENCES "responses"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_response_id_responses_id_fk" FOREIGN KEY ("response_id") REFERENCES "responses"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "runs_of_process" ON "runs" USING btree ("process_id");--> statement-breakpoint
CREATE INDEX "runs_of_request" ON "runs" USING btree ("request_id");--> statement-breakpoint
CREATE INDEX "slot_leases_of_process" ON "slot_leases" USING btree ("process_id");