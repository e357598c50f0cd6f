CREATE INDEX "audit_entries_of_organization_event" ON "audit_entries" USING btree ("organization_id","event","id");--> statement-breakpoint
CREATE INDEX "audit_entries_of_event" ON "audit_entries" USING btree ("event","id");--> statement-breakpoint
CREATE INDEX "audit_entries_of_actor" ON "audit_entries" USING btree ("actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_of_actor_name" ON "audit_entries" USING btree ("actor_name","id");--> statement-breakpoint
CREATE INDEX "audit_entries_of_project" ON "audit_entries" USING btree ("project_id","id");