/**
 * Keeps this process interpreting its code, but for loops of some hundred thousand steps. Most of what a start runs, it runs
 * once: compiling that takes a fourth of its processor time, and 3 MB.
 */
export function interpretStart(): void {
  Bun.unsafe.setJITPolicy(1000)
}

/** Compiles again what is called often, including functions that ran before. */
export function compileFromNowOn(): void {
  Bun.unsafe.setJITPolicy(1)
}
