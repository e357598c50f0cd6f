CREATE TABLE "admin_keys" (
	"public_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"secret_hash" "bytea" NOT NULL,
	"last4" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint
);
