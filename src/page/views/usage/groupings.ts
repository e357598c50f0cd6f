/** A property to group usage by: its name in the API, and for people. */
export const groupings = {
  model: 'Model',
  project_id: 'Project',
  api_key_id: 'API key',
  user_id: 'User',
  session_id: 'Session',
  tag: 'Tag',
  provider: 'Provider',
  api: 'API',
  error: 'Error',
  organization_id: 'Organization',
} as const

/** The name of a grouping in the API and in the address. */
export type Grouping = keyof typeof groupings

/** The fields of a result with the names of its values that are IDs. */
export const nameFields = {
  project_id: 'project_name',
  api_key_id: 'api_key_name',
  organization_id: 'organization_name',
} as const satisfies Partial<Record<Grouping, string>>

/** The groupings of which one value can be selected, by its name in the address: only its requests are reported. */
export const filterNames = {
  model: 'model',
  project_id: 'project',
  api_key_id: 'key',
  user_id: 'user',
  session_id: 'session',
  tag: 'tag',
} as const satisfies Partial<Record<Grouping, string>>

/** A grouping with a filter. */
type Filtered = keyof typeof filterNames

/** The selected values. */
export type Filters = Readonly<Partial<Record<Filtered, string>>>

export const filtered = Object.keys(filterNames) as readonly Filtered[]
