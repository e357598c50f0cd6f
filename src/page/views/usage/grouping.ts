/** What usage can be grouped by: its name in the API, and for people. */
export const groupings = {
  none: 'Nothing',
  model: 'Model',
  api_key_id: 'API key',
  provider: 'Provider',
  tag: 'Tag',
  user_id: 'User',
  api: 'API',
  organization_id: 'Organization',
} as const

export type Grouping = keyof typeof groupings

/** The grouping with this name in the address; by model for any other name. */
export function groupingNamed(name: string | null): Grouping {
  return name !== null && Object.hasOwn(groupings, name) ? (name as Grouping) : 'model'
}
