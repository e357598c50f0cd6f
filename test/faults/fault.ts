/** A deliberate fault: a slip of a few characters or lines in `src`, which tests have to find. */
export type Fault = {
  /** A sentence that says what the gateway does wrong. */
  readonly name: string
  /** The path of the file from the root of the checkout. */
  readonly file: string
  /** A text that occurs in the file exactly once. */
  readonly original: string
  readonly replacement: string
  /** The test files, or folders, that have to find the fault. */
  readonly tests: readonly string[]
  /** The store of the gateways in these tests; SQLite by default. */
  readonly database?: 'postgres'
}
