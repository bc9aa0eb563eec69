/** Style sheets that a module imports; the build writes them to files. */
declare module '*.css';
