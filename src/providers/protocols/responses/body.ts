/** A request or a part of one on its way to a provider. */
export type Body = Record<string, unknown>
