/** A page of a list of the API. */
export type ListPage<Item> = {
  readonly data: readonly Item[]
  readonly last_id: string | null
  readonly has_more: boolean
}
