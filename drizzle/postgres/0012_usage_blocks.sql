CREATE TABLE "usage_blocks" (
	"property" bigint NOT NULL,
	"until" bigint NOT NULL,
	CONSTRAINT "usage_blocks_key" PRIMARY KEY("property","until")
);
--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "details" text;--> statement-breakpoint
CREATE INDEX "usage_blocks_by_end" ON "usage_blocks" USING btree ("until");