/** A request or a part of one on its way to the provider. */
export type Body = Record<string, unknown>

/** How one way to Google's models differs from the other. */
export type Dialect = {
  /** What its warnings call it. */
  readonly name: string
  /** Tool calls and their results carry ids; elsewhere the name alone ties them together. */
  readonly callIds?: boolean
  /** The body takes a service tier. */
  readonly serviceTier?: boolean
}
