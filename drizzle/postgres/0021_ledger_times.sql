UPDATE "ledger" SET "id" = 'led_' || lpad(to_hex("created_at"), 12, '0') || substr("id", 17) WHERE left("id", 16) = 'led_000000000000' AND "created_at" BETWEEN 1 AND 281474976710655;
