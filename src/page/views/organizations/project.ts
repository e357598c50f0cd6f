import type { ApiClient } from '../../api/client.ts'
import { loadAll } from '../../api/pages.ts'
import type { Limits } from './limits.ts'

/** A project of an organization, as `GET /admin/projects` returns it. */
export type Project = Limits & {
  readonly id: string
  readonly name: string
  /** Null if the organization is deleted. */
  readonly organization: string | null
  readonly created_at: string
  readonly deleted_at: string | null
}

/** The path of a project in the admin API. */
export function projectPath(id: string): string {
  return `/admin/projects/${encodeURIComponent(id)}`
}

/** Loads the projects of an organization, which its name or its ID names. */
export function loadProjects(
  client: ApiClient,
  organization: string,
  signal?: AbortSignal,
): Promise<readonly Project[]> {
  return loadAll(client, '/admin/projects', signal, { organization })
}
