import { testPages } from './support/docs-pages.ts'

testPages('docs-commands-operations.test.ts')
