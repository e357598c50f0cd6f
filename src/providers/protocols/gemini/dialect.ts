/** The differences between the Gemini API and Vertex AI. */
export type Dialect = {
  /** The provider's name in warnings. */
  readonly name: string
  /** Tool calls and their results have ids; elsewhere only the name relates them. */
  readonly callIds?: boolean
  /** The body supports a service tier. */
  readonly serviceTier?: boolean
}
