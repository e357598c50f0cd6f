/** The part of the PostgreSQL driver that the store uses. */
declare module 'pg' {
  export type QueryConfig = {
    readonly text: string
    readonly values?: readonly unknown[]
    /** Milliseconds. */
    readonly query_timeout?: number
  }

  export type QueryResult = {
    /** The command that was executed: a COMMIT of a failed transaction is a ROLLBACK. */
    readonly command: string
    readonly rows: readonly unknown[]
  }

  export type PoolClient = {
    query(config: QueryConfig): Promise<QueryResult>
    on(event: 'error', listener: (error: Error) => void): void
    removeAllListeners(event: 'error'): void
    /** Returns the connection to the pool, or closes it. */
    release(close?: boolean): void
  }

  export type PoolOptions = {
    readonly connectionString: string
    readonly max: number
    readonly connectionTimeoutMillis: number
    readonly idleTimeoutMillis: number
    readonly query_timeout: number
    readonly keepAlive: boolean
    readonly application_name: string
    readonly pipeline: boolean
    readonly types: { getTypeParser(oid: number, format?: string): (text: string) => unknown }
  }

  export class Pool {
    constructor(options: PoolOptions)
    connect(): Promise<PoolClient>
    on(event: 'error', listener: (error: Error) => void): void
    end(): Promise<void>
  }

  export class Client {
    constructor(options: { readonly connectionString: string })
    connect(): Promise<unknown>
    query(config: QueryConfig): Promise<QueryResult>
    on(event: 'error', listener: (error: Error) => void): void
    /** Whether the connection keeps the process alive. */
    ref(): void
    unref(): void
    end(): Promise<void>
  }

  export const types: { getTypeParser(oid: number, format?: string): (text: string) => unknown }
}
