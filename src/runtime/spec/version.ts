/** The range of ociVersion that is known: what features reports and what checks compare with. */
export const OCI_VERSION_MIN = "1.0.0";
export const OCI_VERSION_MAX = "1.3.0";
